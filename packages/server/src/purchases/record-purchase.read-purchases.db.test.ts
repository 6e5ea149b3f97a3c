import type { Transaction } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PurchaseFixture } from '../../testing/purchases.ts';
import { refusal } from '../../testing/wallets.ts';
import type { Caller } from '../http/call.ts';
import { getPurchase, listOwnPurchases } from './record-purchase.ts';

let fixture: PurchaseFixture;
let purchases: Transaction[];
beforeAll(async () => {
  fixture = await PurchaseFixture.start();
  purchases = [];
  for (let index = 0; index < 3; index++) purchases.push(await fixture.record(fixture.body(await fixture.pay())));
});
afterAll(() => fixture.stop());

const get = (id: string, caller: Caller = fixture.caller()) => getPurchase(fixture.db.reads, caller, id);
const list = (query: Parameters<typeof listOwnPurchases>[2] = {}, caller: Caller = fixture.caller()) =>
  listOwnPurchases(fixture.db.reads, caller, query);
const [first, second, third] = [0, 1, 2].map((index) => () => purchases[index]?.id ?? '') as [
  () => string,
  () => string,
  () => string,
];

describe('a purchase', () => {
  it('is read by its id', async () => {
    expect(await get(first())).toEqual(purchases[0]);
  });

  it('is with a user’s token one that a wallet of that user paid for', async () => {
    expect(await get(first(), fixture.caller('ana'))).toEqual(purchases[0]);
    await refusal(get(first(), fixture.caller('luis')), 'purchase_not_found');
  });

  it('of another organisation is, to the letter, like one that does not exist', async () => {
    const other = fixture.caller(undefined, await fixture.newOrganization());
    const production: Caller = { ...fixture.caller(), environment: 'production' };
    const answers = [
      await refusal(get(first(), other), 'purchase_not_found'),
      await refusal(get(first(), production), 'purchase_not_found'),
      await refusal(get(first(), fixture.caller('luis')), 'purchase_not_found'),
      await refusal(get('txn_nothing', other), 'purchase_not_found'),
    ];
    expect(new Set(answers).size).toBe(1);
  });

  it('is not the transfer that paid for it', async () => {
    const [payment] = await fixture.records(purchases[0]?.transactionHash ?? '');
    expect(payment).toMatchObject({ type: 'SEND' });
    await refusal(get(payment?.id ?? ''), 'purchase_not_found');
  });
});

describe('the list of purchases', () => {
  const ids = async (...args: Parameters<typeof list>) => (await list(...args)).data.map(({ id }) => id);

  it('has the newest first, in pages', async () => {
    expect(await list()).toMatchObject({ total: 3, page: 1, limit: 10, totalPages: 1 });
    expect(await ids()).toEqual([third(), second(), first()]);
    expect(await list({ page: 2, limit: 2 })).toMatchObject({ total: 3, page: 2, limit: 2, totalPages: 2 });
    expect(await ids({ page: 2, limit: 2 })).toEqual([first()]);
  });

  it('shows those in one status, and those that wait for a refund', async () => {
    await fixture.db.run(sql`
      update transactions set status = 'FAILED', refund_status = 'DUE' where id = ${second()}`);
    await fixture.db.run(sql`update transactions set status = 'PROCESSING' where id = ${third()}`);
    expect(await ids({ status: 'PENDING' })).toEqual([first()]);
    expect(await ids({ refundStatus: 'DUE' })).toEqual([second()]);
    expect(await ids({ status: 'SUCCESS' })).toEqual([]);
    expect(await ids({ status: 'PROCESSING', refundStatus: 'DUE' })).toEqual([]);
  });

  it('is of one organisation and environment', async () => {
    const other = fixture.caller(undefined, await fixture.newOrganization());
    expect(await list({}, other)).toMatchObject({ data: [], total: 0 });
    expect(await list({}, { ...fixture.caller(), environment: 'production' })).toMatchObject({ data: [], total: 0 });
  });
});
