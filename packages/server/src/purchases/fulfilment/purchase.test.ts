import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockPurchase } from './purchase.ts';
import { markPaid } from './store.ts';
import { PAID, Shop } from './testing/shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.start();
});
afterAll(() => shop.stop());

async function somebodyWaits(): Promise<void> {
  for (;;) {
    const waiting = await shop.db.rows(sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`);
    if (waiting.length > 0) return;
  }
}

describe('a purchase that is locked', () => {
  it('is read as it is once the lock is there, not as it was when it was asked for', async () => {
    const id = await shop.purchase({ hash: '0x1' });
    const later = await shop.db.tx(async (tx) => {
      await lockPurchase(tx, id);
      const waiting = shop.db.tx((other) => lockPurchase(other, id));
      await somebodyWaits();
      await markPaid(tx, id, { amount: PAID, blockTime: new Date() });
      return { waiting };
    });
    expect((await later.waiting)?.paidAt).toBeInstanceOf(Date);
  });

  it('keeps the amount of the first sight of its payment', async () => {
    const id = await shop.purchase({ hash: '0x2' });
    await markPaid(shop.db, id, { amount: PAID + 1n, blockTime: new Date() });
    await markPaid(shop.db, id, { amount: 1n, blockTime: new Date() });
    const amount = sql`select amount::bigint as amount from transactions where id = ${id}`;
    expect(await shop.db.one(amount)).toEqual({ amount: PAID + 1n });
  });
});
