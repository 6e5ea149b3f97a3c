import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refund } from '../../testing/ask-refund.ts';
import { PAID, Shop } from '../../testing/fulfilment.ts';
import type { ChainChanges } from '../../testing/relayer.ts';
import { manager } from '../../testing/starknet.ts';
import { refusal } from '../../testing/wallets.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import { createOrganization } from '../organizations/api-keys.ts';
import { createPayer } from '../relayer/payer.ts';
import { refundJobs } from './module.ts';
import { freeUnpaidRefunds } from './refund-outcome.ts';

const REVERT = { kind: 'revert', reason: 'out of luck' };
let shop: Shop;
beforeAll(async () => {
  shop = await Shop.start();
});
beforeEach(async () => {
  await shop.begin();
  // What tests take back is theirs.
  await shop.relayers.controls.mine(5);
});
afterAll(() => shop.stop());

const free = () => freeUnpaidRefunds(shop.parts(), 'development');
const relays = (id: string) =>
  shop.db.rows<{ state: string; hash: string }>(sql`
    select state, hash from relays where purpose like ${`refund ${id} %`} order by purpose`);
const silent: ChainChanges = { receipt: () => Promise.reject(new ChainUnavailableError('STARKNET')) };

async function reorganised(transactions: 'drop' | 'requeue'): Promise<ChainChanges> {
  await shop.reorganise(1, transactions);
  return {};
}

async function requeued(): Promise<ChainChanges> {
  await shop.relayers.controls.holdBlocks();
  return reorganised('requeue');
}

/** The same transaction, sent once more. */
async function revertedInstead(): Promise<ChainChanges> {
  await reorganised('drop');
  await shop.relayers.controls.fault(REVERT);
  await shop.pay();
  return {};
}

/** How often the payer got the payment back since. */
async function timesPaid(before: bigint): Promise<number> {
  return Number(((await shop.balance()) - before) / PAID);
}

describe('a refund by the manager', () => {
  it('sends what was paid back to the payer, once, and ends with the hash of the transfer', async () => {
    const id = await shop.due();
    const before = await shop.balance();
    expect(await refund(shop, id)).toMatchObject({ id, status: 'FAILED', refundStatus: 'REFUNDING' });
    await shop.finish();
    const [relay] = await relays(id);
    const answer = await refund(shop, id);
    expect(answer).toMatchObject({ refundStatus: 'REFUNDED', refundTransactionHash: relay?.hash });
    expect(await timesPaid(before)).toBe(1);
    expect(
      await shop.db.rows(sql`select purpose, reference from used_payments where transaction_hash = ${relay?.hash}`),
    ).toEqual([{ purpose: 'refund', reference: id }]);
    expect(await shop.db.rows(sql`select action, actor from audit_log where target = ${id}`)).toEqual([
      { action: 'sku-purchase.refund-begun', actor: 'key_1' },
    ]);
  });

  it('that many ask for at once is one payment', async () => {
    const id = await shop.due();
    const before = await shop.balance();
    const answers = await Promise.all(Array.from({ length: 6 }, () => refund(shop, id)));
    expect(new Set(answers.map(({ refundStatus }) => refundStatus))).toEqual(new Set(['REFUNDING']));
    await shop.finish();
    await refund(shop, id);
    await shop.finish();
    expect([await timesPaid(before), (await relays(id)).length]).toEqual([1, 1]);
  });

  it('is refused where nothing is due', async () => {
    const delivered = await shop.paid();
    await shop.order(delivered);
    for (const id of [await shop.purchase(), await shop.paid(), delivered]) {
      await refusal(refund(shop, id), 'purchase_not_refundable');
      expect(await relays(id)).toEqual([]);
    }
  });

  it('of another organisation’s purchase is refused like that of one that is not there', async () => {
    const id = await shop.due();
    const organizationId = await createOrganization(shop.db, 'Otra');
    const caller = { ...shop.caller, organizationId };
    expect(await refusal(refund(shop, id, { caller }), 'purchase_not_found')).toBe(
      await refusal(refund(shop, 'txn_none'), 'purchase_not_found'),
    );
    expect(await relays(id)).toEqual([]);
  });

  it('stores nothing where the manager has too little, no node answers, gas is too dear, or there is no manager', async () => {
    const id = await shop.due();
    const tooPoor = {
      estimate: async () => ({ ok: false, code: 40, reason: 'ERC20: insufficient balance' }) as const,
    };
    await refusal(refund(shop, id, { chain: tooPoor }), 'refund_failed');
    const silent = { estimate: () => Promise.reject(new ChainUnavailableError('STARKNET')) };
    await refusal(refund(shop, id, { chain: silent }), 'chain_unavailable');
    const noManager = createPayer(shop.relayers.parts);
    await refusal(refund(shop, id, { parts: { payer: noManager } }), 'chain_not_configured');
    const frugal = createPayer({ ...shop.relayers.parts, managerKey: () => manager, maxFeeFri: 1n });
    await refusal(refund(shop, id, { parts: { payer: frugal } }), 'refund_failed');
    expect([await shop.seen(id), await relays(id)]).toMatchObject([{ refund: 'DUE' }, []]);
    await refund(shop, id);
    expect(await shop.seen(id)).toMatchObject({ refund: 'REFUNDING' });
    await shop.finish();
  });

  it('of a payment that came after its purchase had failed finds it', async () => {
    const id = await shop.purchase();
    await shop.db.run(sql`update transactions set status = 'FAILED' where id = ${id}`);
    expect(await refund(shop, id)).toMatchObject({ refundStatus: 'REFUNDING' });
    await shop.finish();
    expect(await shop.seen(id)).toMatchObject({ status: 'FAILED', refund: 'REFUNDED' });
  });
});

describe('a refund of a payment that the chain no longer shows', () => {
  it.each<[string, 'purchase_not_refundable' | 'chain_unavailable', string, () => Promise<ChainChanges>]>([
    ['is lost', 'purchase_not_refundable', 'no longer knows', () => reorganised('drop')],
    ['was reverted instead', 'purchase_not_refundable', 'out of luck', () => revertedInstead()],
    ['lacks its transfer', 'purchase_not_refundable', 'shows 0 units', async () => shop.forgetting()],
    ['waits for a block again', 'chain_unavailable', 'waits for a block', () => requeued()],
    ['cannot be asked for', 'chain_unavailable', 'No node', async () => silent],
  ])('is not made while it %s', async (_, code, reason, make) => {
    const id = await shop.due();
    const chain = await make();
    expect(await refusal(refund(shop, id, { chain }), code)).toContain(reason);
    expect([await shop.seen(id), await relays(id)]).toMatchObject([{ refund: 'DUE' }, []]);
  });

  it('is made once it is there again', async () => {
    const id = await shop.due();
    await refusal(refund(shop, id, { chain: await requeued() }), 'chain_unavailable');
    await shop.relayers.controls.reset();
    await shop.relayers.controls.mine();
    expect(await refund(shop, id)).toMatchObject({ refundStatus: 'REFUNDING' });
    await shop.finish();
  });

  it('of one that had failed unpaid is not made for less than was recorded', async () => {
    const id = await shop.purchase({ hash: await shop.pay(PAID - 1n), amount: PAID });
    await shop.db.run(sql`update transactions set status = 'FAILED' where id = ${id}`);
    await refusal(refund(shop, id), 'purchase_not_refundable');
    expect(await shop.seen(id)).toMatchObject({ refund: null });
  });
});

describe('a refund whose transaction did not pay', () => {
  it('is not sent anew before that is over for good; then it is due, and can be', async () => {
    const id = await shop.due();
    const before = await shop.balance();
    await shop.relayers.controls.fault(REVERT);
    await refund(shop, id);
    await shop.finish();
    expect([await free(), await shop.seen(id)]).toMatchObject([0, { refund: 'REFUNDING' }]);
    await refund(shop, id);
    expect(await relays(id)).toMatchObject([{ state: 'REVERTED' }]);
    await shop.acceptOnL1();
    expect([await free(), await shop.seen(id)]).toMatchObject([1, { refund: 'DUE' }]);
    await refund(shop, id);
    await shop.finish();
    expect(await shop.seen(id)).toMatchObject({ refund: 'REFUNDED' });
    expect([await timesPaid(before), (await relays(id)).map(({ state }) => state)]).toEqual([
      1,
      ['REVERTED', 'SUCCEEDED'],
    ]);
  });

  it('counts where a reorganisation has it executed after all', async () => {
    const id = await shop.due();
    const before = await shop.balance();
    await shop.relayers.controls.fault(REVERT);
    await refund(shop, id);
    await shop.finish();
    await shop.reorganise(1, 'requeue');
    await shop.finish();
    expect(await shop.seen(id)).toMatchObject({ refund: 'REFUNDED' });
    expect([await timesPaid(before), await relays(id)]).toMatchObject([1, [{ state: 'SUCCEEDED' }]]);
  });

  it('is looked at by a job for each environment that has a manager', async () => {
    const { handlers, recurring } = refundJobs({ ...shop.parts(), environments: ['development'] });
    expect(recurring.map(({ task }) => task)).toEqual(Object.keys(handlers));
    const id = await shop.due();
    await shop.relayers.controls.fault(REVERT);
    await refund(shop, id);
    await shop.finish();
    await shop.acceptOnL1();
    await handlers['sweep-refunds-development']?.({} as never, {} as never);
    expect(await shop.seen(id)).toMatchObject({ refund: 'DUE' });
  });
});

describe('a refund that was paid', () => {
  it.each(['drop', 'requeue'] as const)('is paid once when its block is replaced (%s)', async (transactions) => {
    const id = await shop.due();
    const before = await shop.balance();
    await refund(shop, id);
    await shop.finish();
    await shop.reorganise(1, transactions);
    await shop.finish();
    expect([await timesPaid(before), await shop.seen(id)]).toMatchObject([1, { refund: 'REFUNDED' }]);
    expect(shop.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('and that the chain then executes otherwise is on its way again, and due once that is over for good', async () => {
    const id = await shop.due();
    const before = await shop.balance();
    await refund(shop, id);
    await shop.finish();
    await shop.relayers.controls.fault(REVERT);
    await shop.reorganise(1, 'drop');
    await shop.finish();
    expect([await timesPaid(before), await shop.seen(id)]).toMatchObject([0, { refund: 'REFUNDING' }]);
    await shop.acceptOnL1();
    await free();
    await refund(shop, id);
    await shop.finish();
    expect([await timesPaid(before), await shop.seen(id)]).toMatchObject([1, { refund: 'REFUNDED' }]);
  });

  it('stays open while its receipt lacks the transfer', async () => {
    const id = await shop.due();
    await refund(shop, id);
    const { chain } = shop.relayers;
    const receipt: typeof chain.receipt = async (hash) => {
      const whole = await chain.receipt(hash);
      return whole && { ...whole, events: [] };
    };
    await expect(shop.finish({ receipt })).rejects.toThrow('Something stays open.');
    expect(await shop.seen(id)).toMatchObject({ refund: 'REFUNDING' });
    await shop.finish();
    expect(await shop.seen(id)).toMatchObject({ refund: 'REFUNDED' });
  });
});
