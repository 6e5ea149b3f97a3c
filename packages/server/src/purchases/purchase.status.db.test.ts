import { type TxStatus, txStatuses } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FulfilmentFixture } from '../../testing/fulfilment.ts';
import { changePurchase, purchaseTransitions } from './purchase.ts';

let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
afterAll(() => fixture.stop());

const allowed: readonly (readonly [TxStatus, TxStatus])[] = [
  ['PENDING', 'PROCESSING'],
  ['PENDING', 'FAILED'],
  ['PENDING', 'CANCELLED'],
  ['PROCESSING', 'SUCCESS'],
  ['PROCESSING', 'FAILED'],
];
const pairs = txStatuses.flatMap((from) => txStatuses.map((to) => [from, to] as const));

describe('a purchase', () => {
  it.each(pairs)('that is %s can or cannot become %s, as the machine says', async (from, to) => {
    const isAllowed = allowed.some(([one, other]) => one === from && other === to);
    expect(purchaseTransitions[from].includes(to)).toBe(isAllowed);
    const id = await fixture.purchase({ hash: '0x1' });
    await fixture.db.run(sql`update transactions set status = ${from} where id = ${id}`);
    expect(await changePurchase(fixture.db, id, { status: to })).toBe(isAllowed);
    expect((await fixture.row(id))?.status).toBe(isAllowed ? to : from);
  });
});
