import { type RefundStatus, refundStatuses } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FulfilmentFixture } from '../../testing/fulfilment.ts';
import { changeRefund, refundTransitions } from './refunds.ts';

let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
afterAll(() => fixture.stop());

const allowed: readonly (readonly [RefundStatus, RefundStatus])[] = [
  ['DUE', 'REFUNDING'],
  ['DUE', 'REFUNDED'],
  ['REFUNDING', 'REFUNDED'],
  ['REFUNDING', 'DUE'],
  ['REFUNDED', 'REFUNDING'],
];
const pairs = refundStatuses.flatMap((from) => refundStatuses.map((to) => [from, to] as const));

async function ended(from: RefundStatus | null): Promise<string> {
  const id = await fixture.purchase({ hash: '0x1' });
  await fixture.db.run(sql`
    update transactions
       set status = 'FAILED', refund_status = ${from},
           refund_transaction_hash = ${from === 'REFUNDED' ? '0x2' : null}
     where id = ${id}`);
  return id;
}

describe('a refund', () => {
  it.each(pairs)('that is %s can or cannot become %s, as the machine says', async (from, to) => {
    const isAllowed = allowed.some(([one, other]) => one === from && other === to);
    expect(refundTransitions[from].includes(to)).toBe(isAllowed);
    const id = await ended(from);
    const changed = await changeRefund(fixture.db, id, to, 3n).then(
      () => true,
      () => false,
    );
    expect([changed, (await fixture.row(id))?.refund]).toEqual([isAllowed, isAllowed ? to : from]);
  });

  it.each(refundStatuses)('that is not due does not become %s', async (to) => {
    await expect(changeRefund(fixture.db, await ended(null), to, 3n)).rejects.toThrow('cannot be');
  });
});
