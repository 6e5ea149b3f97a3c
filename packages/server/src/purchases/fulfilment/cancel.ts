import { ApiError, type endpoints } from '@svc/protocol';
import type { Db } from '@svc/store';
import { recordChange } from '../../audit/record-change.ts';
import type { Answer, Call } from '../../http/call.ts';
import { toTransaction } from '../../transactions/to-transaction.ts';
import { announce } from './announce.ts';
import { ownPurchase } from './own-purchase.ts';
import type { FulfilmentParts } from './parts.ts';
import { lookForPayment, type PaymentSight } from './payment.ts';
import { lockPurchase } from './purchase.ts';
import { changePurchase, markPaid } from './store.ts';

type CancelSkuPurchase = typeof endpoints.cancelSkuPurchase;

/** Stops a purchase whose provider was not called. What was paid, or is found to be paid later, is due for refund. */
export async function cancelSkuPurchase(
  { db, networks }: Pick<FulfilmentParts, 'db' | 'networks'>,
  { caller, params: { id }, transact }: Call<CancelSkuPurchase>,
): Promise<Answer<CancelSkuPurchase>> {
  const known = await ownPurchase(db, caller, id);
  // Asked before the row is locked: a node that does not answer must hold up nobody.
  const sight: PaymentSight =
    known.record.status === 'PENDING' ? await lookForPayment(networks, known) : { state: 'unanswered' };
  return transact(async (tx) => {
    const locked = await lockPurchase(tx, id);
    if (locked?.record.status === 'PENDING') {
      await cancelPending(tx, id, sight);
      await recordChange(tx, caller, {
        action: 'sku-purchase.cancelled',
        target: id,
        changes: { status: 'CANCELLED' },
      });
    } else if (locked?.record.status !== 'CANCELLED') throw new ApiError('purchase_not_cancellable');
    return toTransaction((await ownPurchase(tx, caller, id)).record);
  });
}

/** The row is locked and PENDING. What the chain does not show yet is looked for by the job that has looked for it before. */
export async function cancelPending(tx: Db, id: string, sight: PaymentSight): Promise<void> {
  const isPaid = sight.state === 'paid';
  if (isPaid) await markPaid(tx, id, sight);
  await changePurchase(tx, id, { status: 'CANCELLED', refundDue: isPaid });
  await announce(tx, id);
}
