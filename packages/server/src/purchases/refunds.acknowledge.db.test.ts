import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { relayer, transfer } from '../../testing/chain.ts';
import { FulfilmentFixture, PAID, payer, refund } from '../../testing/fulfilment.ts';
import { refusal } from '../../testing/wallets.ts';
import type { RelayOutcome } from '../relayer/outcome.ts';
import { refundOutcomes, requeueFailedRefunds } from './refunds.ts';

/** Of the organisation, with an account of its own. */
const treasurer = relayer(2);
let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
beforeEach(async () => {
  await fixture.begin();
  await fixture.relayers.sandbox.fund(treasurer.address);
});
afterAll(() => fixture.stop());

const give = (amount = PAID, to = payer.address) => fixture.send([transfer('USDC', to, amount)], treasurer);
const REFUNDED = { refund: 'REFUNDED' };

describe('a transfer that the organisation made itself', () => {
  it('counts as the refund, and nothing is sent besides', async () => {
    const id = await fixture.due();
    const hash = await give();
    const answer = await refund(fixture, id, { hash });
    expect(answer).toMatchObject({ refundStatus: 'REFUNDED', refundTransactionHash: hash });
    expect(await refund(fixture, id, { hash: `0x${hash.slice(2).toUpperCase().padStart(64, '0')}` })).toEqual(answer);
    expect(await refund(fixture, id)).toEqual(answer);
    expect(await fixture.db.rows(sql`select id from relays where purpose like ${`refund ${id} %`}`)).toEqual([]);
    expect(await fixture.db.rows(sql`select action from audit_log where target = ${id}`)).toEqual([
      { action: 'sku-purchase.refunded' },
    ]);
  });

  it('may be more, and in several parts', async () => {
    const id = await fixture.due();
    const transfers = [transfer('USDC', payer.address, PAID), transfer('USDC', payer.address, 1n)];
    await refund(fixture, id, { hash: await fixture.send(transfers, treasurer) });
    expect(await fixture.row(id)).toMatchObject(REFUNDED);
  });

  it('is the refund of one purchase, of several that offer it at once', async () => {
    const ids = [await fixture.due(), await fixture.due(), await fixture.due()];
    const hash = await give();
    const answers = await Promise.allSettled(ids.map((id) => refund(fixture, id, { hash })));
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(refused).toMatchObject([{ code: 'transaction_already_used' }, { code: 'transaction_already_used' }]);
    const seen = await Promise.all(ids.map((id) => fixture.row(id)));
    expect(seen.filter((one) => one?.refund === 'REFUNDED')).toHaveLength(1);
  });

  it.each<[string, () => Promise<string>]>([
    ['to another account', () => give(PAID, 0xb0bn)],
    ['of less', () => give(PAID - 1n)],
    ['of another token', () => fixture.send([transfer('STRK', payer.address, PAID)], treasurer)],
    ['of the payer to itself', () => fixture.send([transfer('USDC', payer.address, PAID)])],
    [
      'that the payer sends on',
      () => fixture.send([transfer('USDC', payer.address, PAID), transfer('USDC', 0xb0bn, 1n)]),
    ],
  ])('is no refund %s', async (_, make) => {
    const id = await fixture.due();
    await refusal(refund(fixture, id, { hash: await make() }), 'transaction_mismatch');
    expect(await fixture.row(id)).toMatchObject({ refund: 'DUE' });
  });

  it('is no refund when it was made before the payment', async () => {
    const hash = await give();
    await fixture.relayers.sandbox.travel(60);
    const id = await fixture.due();
    expect(await refusal(refund(fixture, id, { hash }), 'transaction_mismatch')).toContain('before the payment');
  });

  it('is no refund when it was reverted, is not there, or is no hash at all', async () => {
    const id = await fixture.due();
    await fixture.relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    await refusal(refund(fixture, id, { hash: await give() }), 'transaction_reverted');
    await refusal(refund(fixture, id, { hash: '0xdead' }), 'transaction_not_found');
    await refusal(refund(fixture, id, { hash: 'hash' }), 'invalid_request');
    expect(await fixture.row(id)).toMatchObject({ refund: 'DUE' });
  });

  it('is no refund when it is a payment of the service for something else', async () => {
    const [one, other] = [await fixture.due(), await fixture.due()];
    await refund(fixture, one);
    const relay = await fixture.db.one<{ hash: string }>(
      sql`select hash from relays where purpose like ${`refund ${one} %`}`,
    );
    await refusal(refund(fixture, other, { hash: relay?.hash ?? '' }), 'transaction_already_used');
    await fixture.finish();
    await refusal(refund(fixture, other, { hash: relay?.hash ?? '' }), 'transaction_already_used');
    expect(await fixture.row(other)).toMatchObject({ refund: 'DUE' });
  });

  it('is refused while the service’s own is on its way, and where nothing is due', async () => {
    const id = await fixture.due();
    await refund(fixture, id);
    const hash = await give();
    expect(await refusal(refund(fixture, id, { hash }), 'purchase_not_refundable')).toContain('on its way');
    await fixture.finish();
    expect(await refusal(refund(fixture, id, { hash }), 'purchase_not_refundable')).toContain('given back already');
    await refusal(refund(fixture, await fixture.paid(), { hash }), 'purchase_not_refundable');
  });

  it('that is faster than the service’s own leaves nothing of that', async () => {
    const id = await fixture.due();
    const hash = await give();
    const { payer: real } = fixture.deps();
    const pay: typeof real.pay = async (order, store) => {
      await refund(fixture, id, { hash });
      return real.pay(order, store);
    };
    const answer = await refund(fixture, id, { deps: { payer: { ...real, pay } } });
    expect(answer).toMatchObject({ refundStatus: 'REFUNDED', refundTransactionHash: hash });
    expect(await fixture.db.rows(sql`select from relays where purpose like ${`refund ${id} %`}`)).toEqual([]);
  });

  it('stays the refund when an earlier one of the service’s own is seen to have failed once more', async () => {
    const id = await fixture.due();
    await fixture.relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    await refund(fixture, id);
    await fixture.finish();
    await fixture.relayers.acceptOnL1();
    await requeueFailedRefunds(fixture.deps(), 'development');
    const hash = await give();
    await refund(fixture, id, { hash });
    const relay = await fixture.db.one<{ id: string }>(
      sql`select id from relays where purpose like ${`refund ${id} %`}`,
    );
    const outcome = { relayId: relay?.id, environment: 'development', result: 'REVERTED' } as RelayOutcome;
    await fixture.db.tx(async (tx) => refundOutcomes(fixture.deps()).refund?.(tx, outcome));
    const known = sql`select refund_transaction_hash as hash from transactions where id = ${id}`;
    expect([await fixture.row(id), await fixture.db.one(known)]).toMatchObject([REFUNDED, { hash }]);
  });

  it('and the service’s own at the same moment exclude each other', async () => {
    for (let round = 0; round < 4; round += 1) {
      const id = await fixture.due();
      const [before, hash] = [await fixture.balance(), await give()];
      const [own] = await Promise.allSettled([refund(fixture, id), refund(fixture, id, { hash })]);
      expect(own.status).toBe('fulfilled');
      await fixture.finish();
      const got = ((await fixture.balance()) - before) / PAID;
      const known = await fixture.db.one<{ hash: string }>(sql`
        select refund_transaction_hash as hash from transactions where id = ${id}`);
      expect([await fixture.row(id), got]).toMatchObject([REFUNDED, known?.hash === hash ? 1n : 2n]);
    }
  });
});
