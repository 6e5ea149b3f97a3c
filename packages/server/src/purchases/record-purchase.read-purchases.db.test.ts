import type { Transaction } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPurchaseHouse, type PurchaseHouse } from '../../testing/purchases.ts';
import { refusal } from '../../testing/wallets.ts';
import type { Caller } from '../http/call.ts';
import { getPurchase, listOwnPurchases } from './record-purchase.ts';

let house: PurchaseHouse;
let purchases: Transaction[];
beforeAll(async () => {
  house = await openPurchaseHouse();
  purchases = [];
  for (let index = 0; index < 3; index++) purchases.push(await house.record(house.body(await house.pay())));
});
afterAll(() => house.stop());

const get = (id: string, caller: Caller = house.caller()) => getPurchase(house.db.reads, caller, id);
const list = (query: Parameters<typeof listOwnPurchases>[2] = {}, caller: Caller = house.caller()) =>
  listOwnPurchases(house.db.reads, caller, query);
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
    expect(await get(first(), house.caller('ana'))).toEqual(purchases[0]);
    await refusal(get(first(), house.caller('luis')), 'purchase_not_found');
  });

  it('of somebody else is, to the letter, like one that does not exist', async () => {
    const other = house.caller(undefined, await house.newOrganization());
    const production: Caller = { ...house.caller(), environment: 'production' };
    const answers = [
      await refusal(get(first(), other), 'purchase_not_found'),
      await refusal(get(first(), production), 'purchase_not_found'),
      await refusal(get(first(), house.caller('luis')), 'purchase_not_found'),
      await refusal(get('txn_nothing', other), 'purchase_not_found'),
    ];
    expect(new Set(answers).size).toBe(1);
  });

  it('is not the transfer that paid for it', async () => {
    const [payment] = await house.records(purchases[0]?.transactionHash ?? '');
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
    await house.db.run(sql`
      update transactions set status = 'FAILED', refund_status = 'DUE' where id = ${second()}`);
    await house.db.run(sql`update transactions set status = 'PROCESSING' where id = ${third()}`);
    expect(await ids({ status: 'PENDING' })).toEqual([first()]);
    expect(await ids({ refundStatus: 'DUE' })).toEqual([second()]);
    expect(await ids({ status: 'SUCCESS' })).toEqual([]);
    expect(await ids({ status: 'PROCESSING', refundStatus: 'DUE' })).toEqual([]);
  });

  it('is of one organisation and environment', async () => {
    const other = house.caller(undefined, await house.newOrganization());
    expect(await list({}, other)).toMatchObject({ data: [], total: 0 });
    expect(await list({}, { ...house.caller(), environment: 'production' })).toMatchObject({ data: [], total: 0 });
  });
});
