import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PAYMENT_ADDRESS, transfer } from '../../testing/chain.ts';
import { FulfilmentFixture, PAID } from '../../testing/fulfilment.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import { CONFIRM_PAYMENT_TASK, ORDER_TASK } from './purchase.ts';

const HOUR_MS = 3_600_000;
let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
beforeEach(() => fixture.begin());
afterAll(() => fixture.stop());

/** A hash that no chain knows. */
const NOWHERE = { hash: '0xdead' };
const amountOf = (id: string) =>
  fixture.db.one<{ amount: bigint }>(sql`select amount::bigint as amount from transactions where id = ${id}`);

/** Looks at once, and again when what is not there is believed to be gone. */
async function confirmForADay(id: string): Promise<void> {
  await fixture.confirm(id);
  expect(await fixture.row(id)).toMatchObject({ status: 'PENDING' });
  const [planned] = await fixture.jobs(id);
  await fixture.db.run(sql`delete from jobs`);
  fixture.clock.advance(24 * HOUR_MS);
  await fixture.confirm(id, planned?.payload);
}

describe('a payment in a sealed block', () => {
  it('has the provider called, and tells so', async () => {
    const id = await fixture.purchase();
    await fixture.confirm(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'PROCESSING', refund: null });
    expect(await fixture.jobs(id)).toMatchObject([{ task: ORDER_TASK, payload: { purchaseId: id } }]);
    expect(await fixture.notifications(id)).toEqual({ events: ['sku-purchase.processing'], mails: [] });
    const { block } = fixture.relayers.chain;
    const last = await block.call(fixture.relayers.chain, 'latest');
    expect(
      await fixture.db.one(
        sql`select paid_at is not null as paid, block_time as time from sku_purchases where id = ${id}`,
      ),
    ).toEqual({ paid: true, time: last?.timestamp });
  });

  it('counts once, however often it is looked at', async () => {
    const id = await fixture.purchase();
    await Promise.all(Array.from({ length: 5 }, () => fixture.confirm(id)));
    await fixture.confirm(id);
    expect(await fixture.jobs(id)).toHaveLength(1);
    expect((await fixture.notifications(id)).events).toEqual(['sku-purchase.processing']);
  });

  it('that is smaller than what was recorded for a whole day buys nothing, and is due for refund as it is', async () => {
    const id = await fixture.purchase({ hash: await fixture.pay(PAID - 1n), amount: PAID });
    await confirmForADay(id);
    expect(await fixture.row(id)).toMatchObject({
      status: 'FAILED',
      refund: 'DUE',
      reason: expect.stringMatching(/smaller/),
    });
    expect(await amountOf(id)).toEqual({ amount: PAID - 1n });
    expect(await fixture.notifications(id)).toEqual({ events: ['sku-purchase.failed'], mails: ['purchase-failed'] });
    expect(await fixture.jobs(id)).toEqual([]);
  });

  it('that moved nothing, or was reverted, buys nothing and gives nothing back', async () => {
    const other = await fixture.purchase({ hash: await fixture.send([]) });
    await confirmForADay(other);
    expect(await fixture.row(other)).toMatchObject({ status: 'FAILED', refund: null });
    await fixture.relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    const reverted = await fixture.purchase();
    await fixture.confirm(reverted);
    expect(await fixture.row(reverted)).toMatchObject({
      status: 'FAILED',
      refund: null,
      reason: expect.stringMatching(/out of luck/),
    });
  });
});

describe('a receipt that lacks events', () => {
  it.each([0, 1])('costs nothing: with %i of two transfers it is looked at again', async (transfers) => {
    const half = transfer('USDC', PAYMENT_ADDRESS, PAID / 2n);
    const id = await fixture.purchase({ hash: await fixture.send([half, half]), amount: PAID });
    await fixture.confirm(id, {}, fixture.withoutEvents(transfers));
    expect([await fixture.row(id), await amountOf(id)]).toMatchObject([
      { status: 'PENDING', refund: null },
      { amount: PAID },
    ]);
    const [planned] = await fixture.jobs(id);
    expect(planned).toMatchObject({ task: CONFIRM_PAYMENT_TASK, payload: { missingSince: expect.any(Number) } });
    await fixture.confirm(id, planned?.payload);
    expect([await fixture.row(id), await amountOf(id)]).toMatchObject([{ status: 'PROCESSING' }, { amount: PAID }]);
  });
});

describe('a payment that is not there yet', () => {
  it('is waited for while its block is open', async () => {
    await fixture.relayers.sandbox.holdBlocks();
    const id = await fixture.purchase();
    await fixture.confirm(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'PENDING' });
    expect(await fixture.jobs(id)).toMatchObject([{ task: CONFIRM_PAYMENT_TASK, inSeconds: 1, payload: { looks: 1 } }]);
    await fixture.relayers.sandbox.mine();
    await fixture.confirm(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'PROCESSING' });
  });

  it('is looked for ever more seldom when the chain has lost it, and after a day the purchase has failed', async () => {
    const id = await fixture.purchase(NOWHERE);
    await fixture.confirm(id, { looks: 20 });
    const [planned] = await fixture.jobs(id);
    expect(planned).toMatchObject({ inSeconds: 300, payload: { looks: 21, missingSince: expect.any(Number) } });
    fixture.clock.advance(23 * HOUR_MS);
    await fixture.confirm(id, planned?.payload);
    expect(await fixture.row(id)).toMatchObject({ status: 'PENDING' });
    fixture.clock.advance(HOUR_MS);
    await fixture.confirm(id, planned?.payload);
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', refund: null });
    expect(await fixture.notifications(id)).toEqual({ events: ['sku-purchase.failed'], mails: ['purchase-failed'] });
  });

  it('is waited for as long as it takes where no node answers, and each retry is logged with its error', async () => {
    const id = await fixture.purchase();
    const error = new ChainUnavailableError('STARKNET');
    const silent = { receipt: () => Promise.reject(error) };
    await fixture.confirm(id, { looks: 20, missingSince: 1 }, silent);
    expect(await fixture.row(id)).toMatchObject({ status: 'PENDING' });
    const [planned] = await fixture.jobs(id);
    expect(planned).toMatchObject({ payload: { looks: 21, missingSince: 1 } });
    const fields = { purchaseId: id, transactionHash: expect.stringMatching(/^0x/), err: error };
    expect(fixture.logged).toEqual([{ level: 'warn', message: 'payment not readable', fields }]);
  });

  it('has its day anew only when the chain has shown it in between', async () => {
    await fixture.relayers.sandbox.holdBlocks();
    const id = await fixture.purchase();
    await fixture.confirm(id, { missingSince: 1 });
    const [planned] = await fixture.jobs(id);
    expect(planned?.payload).not.toHaveProperty('missingSince');
  });
});
