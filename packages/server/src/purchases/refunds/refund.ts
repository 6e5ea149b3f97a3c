import { ApiError, type endpoints } from '@svc/protocol';
import type { Answer, Call } from '../../http/call.ts';
import { toTransaction } from '../../transactions/to-transaction.ts';
import { storePaid } from '../fulfilment/confirm-payment.ts';
import { ownPurchase } from '../fulfilment/own-purchase.ts';
import { lookForPayment } from '../fulfilment/payment.ts';
import type { Purchase } from '../fulfilment/purchase.ts';
import { acknowledgeTransfer } from './acknowledge.ts';
import type { RefundParts } from './parts.ts';
import { payBack } from './pay-back.ts';
import { requireShown } from './require-shown.ts';

type RefundSkuPurchase = typeof endpoints.refundSkuPurchase;

/** Gives a payment back, once: by a transaction of the manager's, or by one that the organisation made itself. */
export async function refundSkuPurchase(
  parts: RefundParts,
  call: Call<RefundSkuPurchase>,
): Promise<Answer<RefundSkuPurchase>> {
  const { caller, params, body } = call;
  const purchase = await withLatePayment(parts, await ownPurchase(parts.db, caller, params.id));
  if (!purchase.refund.status) throw new ApiError('purchase_not_refundable');
  if (body.transactionHash !== undefined) return acknowledgeTransfer(parts, call, purchase, body.transactionHash);
  if (purchase.refund.status === 'DUE') {
    // Not being configured is no lack of an answer, and throws here.
    parts.networks.starknet(caller.environment);
    requireShown(await lookForPayment(parts.networks, purchase));
    await payBack(parts, caller, purchase);
  }
  return toTransaction((await ownPurchase(parts.db, caller, params.id)).record);
}

/** A payment that came after its purchase had ended is found when it is asked for. */
async function withLatePayment({ db, networks }: RefundParts, purchase: Purchase): Promise<Purchase> {
  const { record, paidAt } = purchase;
  if (paidAt || (record.status !== 'FAILED' && record.status !== 'CANCELLED')) return purchase;
  const sight = await lookForPayment(networks, purchase);
  if (sight.state !== 'paid') return purchase;
  return db.tx(async (tx) => {
    await storePaid(tx, record.id, sight);
    return ownPurchase(tx, record, record.id);
  });
}
