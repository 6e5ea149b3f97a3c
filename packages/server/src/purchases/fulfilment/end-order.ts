import type { Db } from '@svc/store';
import type { OrderResult } from '../providers/provider.ts';
import { announce } from './announce.ts';
import { lockPurchase } from './purchase.ts';
import { changePurchase, markAccepted, type PurchaseChange } from './store.ts';

/**
 * Stores what a provider says of an order, with its consequences: the record's status, the event, the mail. `ended` when it had ended
 * before (the first word counts), `unknown` when there is no such order or its provider was never called.
 */
export async function endOrder(
  tx: Db,
  purchaseId: string,
  result: OrderResult,
): Promise<'stored' | 'ended' | 'unknown'> {
  const purchase = await lockPurchase(tx, purchaseId);
  if (!purchase?.orderedAt) return 'unknown';
  if (purchase.record.status !== 'PROCESSING') return 'ended';
  if (result.state === 'accepted') {
    await markAccepted(tx, purchaseId);
    return 'stored';
  }
  await changePurchase(tx, purchaseId, changeOf(result, purchase.blockTime));
  await announce(tx, purchaseId);
  return 'stored';
}

function changeOf(result: Exclude<OrderResult, { state: 'accepted' }>, blockTime: Date | undefined): PurchaseChange {
  return result.state === 'completed'
    ? { status: 'SUCCESS', fileNumber: result.fileNumber, confirmedAt: blockTime }
    : { status: 'FAILED', failureReason: result.reason, refundDue: true };
}
