import { type Db, sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAID, Shop } from '../../testing/fulfilment.ts';
import { whileOpen } from '../../testing/ledger.ts';
import { lockPurchase, markPaid } from './purchase.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.start();
});
afterAll(() => shop.stop());

describe('a purchase that is locked', () => {
  it('is read as it is once the lock is there, not as it was when it was asked for', async () => {
    const id = await shop.purchase({ hash: '0x1' });
    const pay = async (tx: Db) => {
      await lockPurchase(tx, id);
      await markPaid(tx, id, { amount: PAID, blockTime: new Date() });
    };
    const later = await whileOpen(shop.db, pay, () => shop.db.tx((tx) => lockPurchase(tx, id)));
    expect(later?.paidAt).toBeInstanceOf(Date);
  });

  it('keeps the amount of the first sight of its payment', async () => {
    const id = await shop.purchase({ hash: '0x2' });
    await markPaid(shop.db, id, { amount: PAID + 1n, blockTime: new Date() });
    await markPaid(shop.db, id, { amount: 1n, blockTime: new Date() });
    const amount = sql`select amount::bigint as amount from transactions where id = ${id}`;
    expect(await shop.db.one(amount)).toEqual({ amount: PAID + 1n });
  });
});
