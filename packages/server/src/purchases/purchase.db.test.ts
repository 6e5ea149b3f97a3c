import { type Db, sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whileOpen } from '../../testing/database.ts';
import { FulfilmentFixture, PAID } from '../../testing/fulfilment.ts';
import { lockPurchase, markPaid } from './purchase.ts';

let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
afterAll(() => fixture.stop());

describe('a purchase that is locked', () => {
  it('is read as it is once the lock is there, not as it was when it was asked for', async () => {
    const id = await fixture.purchase({ hash: '0x1' });
    const pay = async (tx: Db) => {
      await lockPurchase(tx, id);
      await markPaid(tx, id, { amount: PAID, blockTime: new Date() });
    };
    const later = await whileOpen(fixture.db, pay, () => fixture.db.tx((tx) => lockPurchase(tx, id)));
    expect(later?.paidAt).toBeInstanceOf(Date);
  });

  it('keeps the amount of the first observation of its payment', async () => {
    const id = await fixture.purchase({ hash: '0x2' });
    await markPaid(fixture.db, id, { amount: PAID + 1n, blockTime: new Date() });
    await markPaid(fixture.db, id, { amount: 1n, blockTime: new Date() });
    const amount = sql`select amount::bigint as amount from transactions where id = ${id}`;
    expect(await fixture.db.one(amount)).toEqual({ amount: PAID + 1n });
  });
});
