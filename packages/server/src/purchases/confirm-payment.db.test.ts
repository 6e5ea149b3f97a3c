import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PAID, PAYMENT_ADDRESS, Shop } from '../../testing/fulfilment.ts';
import { transfer } from '../../testing/starknet.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import { CONFIRM_PAYMENT_TASK, ORDER_TASK } from './purchase.ts';

const HOUR_MS = 3_600_000;
let shop: Shop;
beforeAll(async () => {
  shop = await Shop.start();
});
beforeEach(() => shop.begin());
afterAll(() => shop.stop());

/** A hash that no chain knows. */
const NOWHERE = { hash: '0xdead' };
const amountOf = (id: string) =>
  shop.db.one<{ amount: bigint }>(sql`select amount::bigint as amount from transactions where id = ${id}`);

/** Looks at once, and again when what is not there is believed to be gone. */
async function confirmForADay(id: string): Promise<void> {
  await shop.confirm(id);
  expect(await shop.seen(id)).toMatchObject({ status: 'PENDING' });
  const [planned] = await shop.planned(id);
  await shop.db.run(sql`delete from jobs`);
  shop.wait(24 * HOUR_MS);
  await shop.confirm(id, planned?.payload);
}

describe('a payment in a sealed block', () => {
  it('has the provider called, and tells so', async () => {
    const id = await shop.purchase();
    await shop.confirm(id);
    expect(await shop.seen(id)).toMatchObject({ status: 'PROCESSING', refund: null });
    expect(await shop.planned(id)).toMatchObject([{ task: ORDER_TASK, payload: { purchaseId: id } }]);
    expect(await shop.told(id)).toEqual({ events: ['sku-purchase.processing'], mails: [] });
    const { block } = shop.relayers.chain;
    const last = await block.call(shop.relayers.chain, 'latest');
    expect(
      await shop.db.one(
        sql`select paid_at is not null as paid, block_time as time from sku_purchases where id = ${id}`,
      ),
    ).toEqual({ paid: true, time: last?.timestamp });
  });

  it('counts once, however often it is looked at', async () => {
    const id = await shop.purchase();
    await Promise.all(Array.from({ length: 5 }, () => shop.confirm(id)));
    await shop.confirm(id);
    expect(await shop.planned(id)).toHaveLength(1);
    expect((await shop.told(id)).events).toEqual(['sku-purchase.processing']);
  });

  it('that is smaller than what was recorded for a whole day buys nothing, and is due for refund as it is', async () => {
    const id = await shop.purchase({ hash: await shop.pay(PAID - 1n), amount: PAID });
    await confirmForADay(id);
    expect(await shop.seen(id)).toMatchObject({
      status: 'FAILED',
      refund: 'DUE',
      reason: expect.stringMatching(/smaller/),
    });
    expect(await amountOf(id)).toEqual({ amount: PAID - 1n });
    expect(await shop.told(id)).toEqual({ events: ['sku-purchase.failed'], mails: ['purchase-failed'] });
    expect(await shop.planned(id)).toEqual([]);
  });

  it('that moved nothing, or was reverted, buys nothing and gives nothing back', async () => {
    const other = await shop.purchase({ hash: await shop.send([]) });
    await confirmForADay(other);
    expect(await shop.seen(other)).toMatchObject({ status: 'FAILED', refund: null });
    await shop.relayers.controls.fault({ kind: 'revert', reason: 'out of luck' });
    const reverted = await shop.purchase();
    await shop.confirm(reverted);
    expect(await shop.seen(reverted)).toMatchObject({
      status: 'FAILED',
      refund: null,
      reason: expect.stringMatching(/out of luck/),
    });
  });
});

describe('a receipt that lacks events', () => {
  it.each([0, 1])('costs nothing: with %i of two transfers it is looked at again', async (transfers) => {
    const half = transfer('USDC', PAYMENT_ADDRESS, PAID / 2n);
    const id = await shop.purchase({ hash: await shop.send([half, half]), amount: PAID });
    await shop.confirm(id, {}, shop.forgetting(transfers));
    expect([await shop.seen(id), await amountOf(id)]).toMatchObject([
      { status: 'PENDING', refund: null },
      { amount: PAID },
    ]);
    const [planned] = await shop.planned(id);
    expect(planned).toMatchObject({ task: CONFIRM_PAYMENT_TASK, payload: { missingSince: expect.any(Number) } });
    await shop.confirm(id, planned?.payload);
    expect([await shop.seen(id), await amountOf(id)]).toMatchObject([{ status: 'PROCESSING' }, { amount: PAID }]);
  });
});

describe('a payment that is not there yet', () => {
  it('is waited for while its block is open', async () => {
    await shop.relayers.controls.holdBlocks();
    const id = await shop.purchase();
    await shop.confirm(id);
    expect(await shop.seen(id)).toMatchObject({ status: 'PENDING' });
    expect(await shop.planned(id)).toMatchObject([{ task: CONFIRM_PAYMENT_TASK, inSeconds: 1, payload: { looks: 1 } }]);
    await shop.relayers.controls.mine();
    await shop.confirm(id);
    expect(await shop.seen(id)).toMatchObject({ status: 'PROCESSING' });
  });

  it('is looked for ever more seldom when the chain has lost it, and after a day the purchase has failed', async () => {
    const id = await shop.purchase(NOWHERE);
    await shop.confirm(id, { looks: 20 });
    const [planned] = await shop.planned(id);
    expect(planned).toMatchObject({ inSeconds: 300, payload: { looks: 21, missingSince: expect.any(Number) } });
    shop.wait(23 * HOUR_MS);
    await shop.confirm(id, planned?.payload);
    expect(await shop.seen(id)).toMatchObject({ status: 'PENDING' });
    shop.wait(HOUR_MS);
    await shop.confirm(id, planned?.payload);
    expect(await shop.seen(id)).toMatchObject({ status: 'FAILED', refund: null });
    expect(await shop.told(id)).toEqual({ events: ['sku-purchase.failed'], mails: ['purchase-failed'] });
  });

  it('is waited for as long as it takes where no node answers', async () => {
    const id = await shop.purchase();
    const silent = { receipt: () => Promise.reject(new ChainUnavailableError('STARKNET')) };
    await shop.confirm(id, { looks: 20, missingSince: 1 }, silent);
    expect(await shop.seen(id)).toMatchObject({ status: 'PENDING' });
    const [planned] = await shop.planned(id);
    expect(planned).toMatchObject({ payload: { looks: 21, missingSince: 1 } });
  });

  it('has its day anew only when the chain has shown it in between', async () => {
    await shop.relayers.controls.holdBlocks();
    const id = await shop.purchase();
    await shop.confirm(id, { missingSince: 1 });
    const [planned] = await shop.planned(id);
    expect(planned?.payload).not.toHaveProperty('missingSince');
  });
});
