import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refund } from '../../testing/ask-refund.ts';
import { PAID, payer, Shop } from '../../testing/fulfilment.ts';
import { relayer, transfer } from '../../testing/starknet.ts';
import { refusal } from '../../testing/wallets.ts';
import type { RelayOutcome } from '../relayer/outcome.ts';
import { freeUnpaidRefunds, refundOutcomes } from './refund-outcome.ts';

/** Of the organisation, with an account of its own. */
const treasurer = relayer(2);
let shop: Shop;
beforeAll(async () => {
  shop = await Shop.start();
});
beforeEach(async () => {
  await shop.begin();
  await shop.relayers.controls.fund(treasurer.address);
});
afterAll(() => shop.stop());

const give = (amount = PAID, to = payer.address) => shop.send([transfer('USDC', to, amount)], treasurer);
const REFUNDED = { refund: 'REFUNDED' };

describe('a transfer that the organisation made itself', () => {
  it('counts as the refund, and nothing is sent besides', async () => {
    const id = await shop.due();
    const hash = await give();
    const answer = await refund(shop, id, { hash });
    expect(answer).toMatchObject({ refundStatus: 'REFUNDED', refundTransactionHash: hash });
    expect(await refund(shop, id, { hash: `0x${hash.slice(2).toUpperCase().padStart(64, '0')}` })).toEqual(answer);
    expect(await refund(shop, id)).toEqual(answer);
    expect(await shop.db.rows(sql`select id from relays where purpose like ${`refund ${id} %`}`)).toEqual([]);
    expect(await shop.db.rows(sql`select action from audit_log where target = ${id}`)).toEqual([
      { action: 'sku-purchase.refunded' },
    ]);
  });

  it('may be more, and in several parts', async () => {
    const id = await shop.due();
    const parts = [transfer('USDC', payer.address, PAID), transfer('USDC', payer.address, 1n)];
    await refund(shop, id, { hash: await shop.send(parts, treasurer) });
    expect(await shop.seen(id)).toMatchObject(REFUNDED);
  });

  it('is the refund of one purchase, of several that offer it at once', async () => {
    const ids = [await shop.due(), await shop.due(), await shop.due()];
    const hash = await give();
    const answers = await Promise.allSettled(ids.map((id) => refund(shop, id, { hash })));
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(refused).toMatchObject([{ code: 'transaction_already_used' }, { code: 'transaction_already_used' }]);
    const seen = await Promise.all(ids.map((id) => shop.seen(id)));
    expect(seen.filter((one) => one?.refund === 'REFUNDED')).toHaveLength(1);
  });

  it.each<[string, () => Promise<string>]>([
    ['to somebody else', () => give(PAID, 0xb0bn)],
    ['of less', () => give(PAID - 1n)],
    ['of another token', () => shop.send([transfer('STRK', payer.address, PAID)], treasurer)],
    ['of the payer to itself', () => shop.send([transfer('USDC', payer.address, PAID)])],
    ['that the payer sends on', () => shop.send([transfer('USDC', payer.address, PAID), transfer('USDC', 0xb0bn, 1n)])],
  ])('is no refund %s', async (_, make) => {
    const id = await shop.due();
    await refusal(refund(shop, id, { hash: await make() }), 'transaction_mismatch');
    expect(await shop.seen(id)).toMatchObject({ refund: 'DUE' });
  });

  it('is no refund when it was made before the payment', async () => {
    const hash = await give();
    await shop.relayers.controls.travel(60);
    const id = await shop.due();
    expect(await refusal(refund(shop, id, { hash }), 'transaction_mismatch')).toContain('before the payment');
  });

  it('is no refund when it was reverted, is not there, or is no hash at all', async () => {
    const id = await shop.due();
    await shop.relayers.controls.fault({ kind: 'revert', reason: 'out of luck' });
    await refusal(refund(shop, id, { hash: await give() }), 'transaction_reverted');
    await refusal(refund(shop, id, { hash: '0xdead' }), 'transaction_not_found');
    await refusal(refund(shop, id, { hash: 'hash' }), 'invalid_request');
    expect(await shop.seen(id)).toMatchObject({ refund: 'DUE' });
  });

  it('is no refund when it is a payment of the service for something else', async () => {
    const [one, other] = [await shop.due(), await shop.due()];
    await refund(shop, one);
    const relay = await shop.db.one<{ hash: string }>(
      sql`select hash from relays where purpose like ${`refund ${one} %`}`,
    );
    await refusal(refund(shop, other, { hash: relay?.hash ?? '' }), 'transaction_already_used');
    await shop.finish();
    await refusal(refund(shop, other, { hash: relay?.hash ?? '' }), 'transaction_already_used');
    expect(await shop.seen(other)).toMatchObject({ refund: 'DUE' });
  });

  it('is refused while the service’s own is on its way, and where nothing is due', async () => {
    const id = await shop.due();
    await refund(shop, id);
    const hash = await give();
    expect(await refusal(refund(shop, id, { hash }), 'purchase_not_refundable')).toContain('on its way');
    await shop.finish();
    expect(await refusal(refund(shop, id, { hash }), 'purchase_not_refundable')).toContain('given back already');
    await refusal(refund(shop, await shop.paid(), { hash }), 'purchase_not_refundable');
  });

  it('that is faster than the service’s own leaves nothing of that', async () => {
    const id = await shop.due();
    const hash = await give();
    const { payer: real } = shop.parts();
    const pay: typeof real.pay = async (order, store) => {
      await refund(shop, id, { hash });
      return real.pay(order, store);
    };
    const answer = await refund(shop, id, { parts: { payer: { ...real, pay } } });
    expect(answer).toMatchObject({ refundStatus: 'REFUNDED', refundTransactionHash: hash });
    expect(await shop.db.rows(sql`select from relays where purpose like ${`refund ${id} %`}`)).toEqual([]);
  });

  it('stays the refund when an earlier one of the service’s own is seen to have failed once more', async () => {
    const id = await shop.due();
    await shop.relayers.controls.fault({ kind: 'revert', reason: 'out of luck' });
    await refund(shop, id);
    await shop.finish();
    await shop.acceptOnL1();
    await freeUnpaidRefunds(shop.parts(), 'development');
    const hash = await give();
    await refund(shop, id, { hash });
    const relay = await shop.db.one<{ id: string }>(sql`select id from relays where purpose like ${`refund ${id} %`}`);
    const outcome = { relayId: relay?.id, environment: 'development', result: 'REVERTED' } as RelayOutcome;
    await shop.db.tx(async (tx) => refundOutcomes(shop.parts()).refund?.(tx, outcome));
    const known = sql`select refund_transaction_hash as hash from transactions where id = ${id}`;
    expect([await shop.seen(id), await shop.db.one(known)]).toMatchObject([REFUNDED, { hash }]);
  });

  it('and the service’s own at the same moment exclude each other', async () => {
    for (let round = 0; round < 4; round += 1) {
      const id = await shop.due();
      const [before, hash] = [await shop.balance(), await give()];
      const [own] = await Promise.allSettled([refund(shop, id), refund(shop, id, { hash })]);
      expect(own.status).toBe('fulfilled');
      await shop.finish();
      const got = ((await shop.balance()) - before) / PAID;
      const known = await shop.db.one<{ hash: string }>(sql`
        select refund_transaction_hash as hash from transactions where id = ${id}`);
      expect([await shop.seen(id), got]).toMatchObject([REFUNDED, known?.hash === hash ? 1n : 2n]);
    }
  });
});
