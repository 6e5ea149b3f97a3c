import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { manager, transfer } from '../../testing/chain.ts';
import { FulfilmentFixture, PAID, refund } from '../../testing/fulfilment.ts';
import type { ChainChanges } from '../../testing/relayer.ts';
import { refusal } from '../../testing/wallets.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import { createOrganization } from '../organizations/api-keys.ts';
import { createPayer } from '../relayer/payer.ts';
import { newId } from '../util/ids.ts';
import { refundJobs } from './module.ts';
import { requeueFailedRefunds } from './refunds.ts';

const REVERT = { kind: 'revert', reason: 'out of luck' };
let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
beforeEach(async () => {
  await fixture.begin();
  // What tests take back is theirs.
  await fixture.relayers.sandbox.mine(5);
});
afterAll(() => fixture.stop());

const free = () => requeueFailedRefunds(fixture.deps(), 'development');
const relays = (id: string) =>
  fixture.db.rows<{ state: string; hash: string }>(sql`
    select state, hash from relays where purpose like ${`refund ${id} %`} order by purpose`);
const silent: ChainChanges = { receipt: () => Promise.reject(new ChainUnavailableError('STARKNET')) };

async function reorganised(transactions: 'drop' | 'requeue'): Promise<ChainChanges> {
  await fixture.relayers.reorganise(1, transactions);
  return {};
}

async function requeued(): Promise<ChainChanges> {
  await fixture.relayers.sandbox.holdBlocks();
  return reorganised('requeue');
}

/** The same transaction, sent once more. */
async function revertedInstead(): Promise<ChainChanges> {
  await reorganised('drop');
  await fixture.relayers.sandbox.fault(REVERT);
  await fixture.pay();
  return {};
}

/** How often the payer got the payment back since. */
async function timesPaid(before: bigint): Promise<number> {
  return Number(((await fixture.balance()) - before) / PAID);
}

describe('a refund by the manager', () => {
  it('sends what was paid back to the payer, once, and ends with the hash of the transfer', async () => {
    const id = await fixture.due();
    const before = await fixture.balance();
    expect(await refund(fixture, id)).toMatchObject({ id, status: 'FAILED', refundStatus: 'REFUNDING' });
    await fixture.finish();
    const [relay] = await relays(id);
    const answer = await refund(fixture, id);
    expect(answer).toMatchObject({ refundStatus: 'REFUNDED', refundTransactionHash: relay?.hash });
    expect(await timesPaid(before)).toBe(1);
    expect(
      await fixture.db.rows(sql`select purpose, reference from used_payments where transaction_hash = ${relay?.hash}`),
    ).toEqual([{ purpose: 'refund', reference: id }]);
    expect(await fixture.db.rows(sql`select action, actor from audit_log where target = ${id}`)).toEqual([
      { action: 'sku-purchase.refund-begun', actor: 'key_1' },
    ]);
  });

  it('that many ask for at once is one payment', async () => {
    const id = await fixture.due();
    const before = await fixture.balance();
    const answers = await Promise.all(Array.from({ length: 6 }, () => refund(fixture, id)));
    expect(new Set(answers.map(({ refundStatus }) => refundStatus))).toEqual(new Set(['REFUNDING']));
    await fixture.finish();
    await refund(fixture, id);
    await fixture.finish();
    expect([await timesPaid(before), (await relays(id)).length]).toEqual([1, 1]);
  });

  it('is refused where nothing is due', async () => {
    const delivered = await fixture.paid();
    await fixture.order(delivered);
    for (const id of [await fixture.purchase(), await fixture.paid(), delivered]) {
      await refusal(refund(fixture, id), 'purchase_not_refundable');
      expect(await relays(id)).toEqual([]);
    }
  });

  it('of another organisation’s purchase is refused like that of one that is not there', async () => {
    const id = await fixture.due();
    const organizationId = await createOrganization(fixture.db, 'Otra');
    const caller = { ...fixture.caller, organizationId };
    expect(await refusal(refund(fixture, id, { caller }), 'purchase_not_found')).toBe(
      await refusal(refund(fixture, 'txn_none'), 'purchase_not_found'),
    );
    expect(await relays(id)).toEqual([]);
  });

  it('is not sent while pending payments of the manager need the balance', async () => {
    const id = await fixture.due();
    const other = { environment: 'development', kind: 'payout', purpose: newId('pay') } as const;
    const calls = [transfer('USDC', 0xb0bn, 5n)];
    await fixture.deps().payer.pay({ ...other, calls }, async () => {});
    await refusal(refund(fixture, id, { chain: { balanceOf: async () => PAID + 4n } }), 'refund_failed');
    expect([await fixture.row(id), await relays(id)]).toMatchObject([{ refund: 'DUE' }, []]);
    expect(await refund(fixture, id, { chain: { balanceOf: async () => PAID + 5n } })).toMatchObject({
      refundStatus: 'REFUNDING',
    });
    await fixture.finish();
  });

  it('is sent for one of two purchases where the balance covers one', async () => {
    const ids = [await fixture.due(), await fixture.due()];
    const chain = { balanceOf: async () => 2n * PAID - 1n };
    const results = await Promise.allSettled(ids.map((id) => refund(fixture, id, { chain })));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await Promise.all(ids.map(relays))).flat()).toHaveLength(1);
    await fixture.finish();
  });

  it('stores nothing where the manager has too little, no node answers, gas is too dear, or there is no manager', async () => {
    const id = await fixture.due();
    const tooPoor = {
      estimate: async () => ({ ok: false, code: 40, reason: 'ERC20: insufficient balance' }) as const,
    };
    await refusal(refund(fixture, id, { chain: tooPoor }), 'refund_failed');
    const silent = { estimate: () => Promise.reject(new ChainUnavailableError('STARKNET')) };
    await refusal(refund(fixture, id, { chain: silent }), 'chain_unavailable');
    const noManager = createPayer(fixture.relayers.deps);
    await refusal(refund(fixture, id, { deps: { payer: noManager } }), 'chain_not_configured');
    const frugal = createPayer({ ...fixture.relayers.deps, managerKey: () => manager, maxFeeFri: 1n });
    await refusal(refund(fixture, id, { deps: { payer: frugal } }), 'refund_failed');
    expect([await fixture.row(id), await relays(id)]).toMatchObject([{ refund: 'DUE' }, []]);
    await refund(fixture, id);
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDING' });
    await fixture.finish();
  });

  it('of a payment that came after its purchase had failed finds it', async () => {
    const id = await fixture.purchase();
    await fixture.db.run(sql`update transactions set status = 'FAILED' where id = ${id}`);
    expect(await refund(fixture, id)).toMatchObject({ refundStatus: 'REFUNDING' });
    await fixture.finish();
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', refund: 'REFUNDED' });
  });
});

describe('a refund of a payment that the chain no longer shows', () => {
  it.each<[string, 'purchase_not_refundable' | 'chain_unavailable', string, () => Promise<ChainChanges>]>([
    ['is lost', 'purchase_not_refundable', 'no longer knows', () => reorganised('drop')],
    ['was reverted instead', 'purchase_not_refundable', 'out of luck', () => revertedInstead()],
    ['lacks its transfer', 'purchase_not_refundable', 'shows 0 units', async () => fixture.withoutEvents()],
    ['waits for a block again', 'chain_unavailable', 'waits for a block', () => requeued()],
    ['cannot be asked for', 'chain_unavailable', 'No node', async () => silent],
  ])('is not made while it %s', async (_, code, reason, make) => {
    const id = await fixture.due();
    const chain = await make();
    expect(await refusal(refund(fixture, id, { chain }), code)).toContain(reason);
    expect([await fixture.row(id), await relays(id)]).toMatchObject([{ refund: 'DUE' }, []]);
  });

  it('is made once it is there again', async () => {
    const id = await fixture.due();
    await refusal(refund(fixture, id, { chain: await requeued() }), 'chain_unavailable');
    await fixture.relayers.sandbox.reset();
    await fixture.relayers.sandbox.mine();
    expect(await refund(fixture, id)).toMatchObject({ refundStatus: 'REFUNDING' });
    await fixture.finish();
  });

  it('of one that had failed unpaid is not made for less than was recorded', async () => {
    const id = await fixture.purchase({ hash: await fixture.pay(PAID - 1n), amount: PAID });
    await fixture.db.run(sql`update transactions set status = 'FAILED' where id = ${id}`);
    await refusal(refund(fixture, id), 'purchase_not_refundable');
    expect(await fixture.row(id)).toMatchObject({ refund: null });
  });
});

describe('a refund whose transaction did not pay', () => {
  it('is not sent anew before that is over for good; then it is due, and can be', async () => {
    const id = await fixture.due();
    const before = await fixture.balance();
    await fixture.relayers.sandbox.fault(REVERT);
    await refund(fixture, id);
    await fixture.finish();
    expect([await free(), await fixture.row(id)]).toMatchObject([0, { refund: 'REFUNDING' }]);
    await refund(fixture, id);
    expect(await relays(id)).toMatchObject([{ state: 'REVERTED' }]);
    await fixture.relayers.acceptOnL1();
    expect([await free(), await fixture.row(id)]).toMatchObject([1, { refund: 'DUE' }]);
    await refund(fixture, id);
    await fixture.finish();
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDED' });
    expect([await timesPaid(before), (await relays(id)).map(({ state }) => state)]).toEqual([
      1,
      ['REVERTED', 'SUCCEEDED'],
    ]);
  });

  it('counts where a reorganisation has it executed after all', async () => {
    const id = await fixture.due();
    const before = await fixture.balance();
    await fixture.relayers.sandbox.fault(REVERT);
    await refund(fixture, id);
    await fixture.finish();
    await fixture.relayers.reorganise(1, 'requeue');
    await fixture.finish();
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDED' });
    expect([await timesPaid(before), await relays(id)]).toMatchObject([1, [{ state: 'SUCCEEDED' }]]);
  });

  it('is looked at by a job for each environment that has a manager', async () => {
    const { handlers, recurring } = refundJobs({ ...fixture.deps(), environments: ['development'] });
    expect(recurring.map(({ task }) => task)).toEqual(Object.keys(handlers));
    const id = await fixture.due();
    await fixture.relayers.sandbox.fault(REVERT);
    await refund(fixture, id);
    await fixture.finish();
    await fixture.relayers.acceptOnL1();
    await handlers['sweep-refunds-development']?.({} as never, {} as never);
    expect(await fixture.row(id)).toMatchObject({ refund: 'DUE' });
  });
});

describe('a refund that was paid', () => {
  it.each(['drop', 'requeue'] as const)('is paid once when its block is replaced (%s)', async (transactions) => {
    const id = await fixture.due();
    const before = await fixture.balance();
    await refund(fixture, id);
    await fixture.finish();
    await fixture.relayers.reorganise(1, transactions);
    await fixture.finish();
    expect([await timesPaid(before), await fixture.row(id)]).toMatchObject([1, { refund: 'REFUNDED' }]);
    expect(fixture.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('and that the chain then executes otherwise is on its way again, and due once that is over for good', async () => {
    const id = await fixture.due();
    const before = await fixture.balance();
    await refund(fixture, id);
    await fixture.finish();
    await fixture.relayers.sandbox.fault(REVERT);
    await fixture.relayers.reorganise(1, 'drop');
    await fixture.finish();
    expect([await timesPaid(before), await fixture.row(id)]).toMatchObject([0, { refund: 'REFUNDING' }]);
    await fixture.relayers.acceptOnL1();
    await free();
    await refund(fixture, id);
    await fixture.finish();
    expect([await timesPaid(before), await fixture.row(id)]).toMatchObject([1, { refund: 'REFUNDED' }]);
  });

  it('stays open while its receipt lacks the transfer', async () => {
    const id = await fixture.due();
    await refund(fixture, id);
    const { chain } = fixture.relayers;
    const receipt: typeof chain.receipt = async (hash) => {
      const whole = await chain.receipt(hash);
      return whole && { ...whole, events: [] };
    };
    await expect(fixture.finish({ receipt })).rejects.toThrow('Relays are open');
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDING' });
    await fixture.finish();
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDED' });
  });
});
