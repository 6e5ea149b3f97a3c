import type { Db } from '@svc/store';
import { enqueue } from '../../jobs/enqueue.ts';
import type { NewJob } from '../../jobs/job.ts';
import { announce } from './announce.ts';
import { orderJob } from './order-job.ts';
import type { FulfilmentParts } from './parts.ts';
import { MISSED_FOR_MS, nextConfirmationMs } from './patience.ts';
import { lookForPayment, type Paid, type PaymentSight } from './payment.ts';
import { findPurchase, lockPurchase, type Purchase } from './purchase.ts';
import { changePurchase, markPaid, markRefundDue } from './store.ts';

export const CONFIRM_PAYMENT_TASK = 'confirm-purchase-payment';

/** What `confirm-purchase-payment` works on. */
export interface ToConfirm {
  readonly purchaseId: string;
  /** How often the chain was asked. */
  readonly looks?: number;
  /** Since when the chain has not shown the payment, as a time in milliseconds. */
  readonly missingSince?: number;
}

const GONE = 'The chain no longer knows the payment.';
const NOT_SHOWN = 'The transaction did not move what was recorded.';
const SMALLER = 'The payment is smaller on the chain than when it was recorded.';

/** Looks whether the payment of a purchase stands in a sealed block, and then has its provider called. */
export function confirmPaymentJob(purchaseId: string): NewJob {
  return { task: CONFIRM_PAYMENT_TASK, key: purchaseId, payload: { purchaseId } satisfies ToConfirm };
}

/**
 * Looks at the chain, and either goes on with the purchase or comes back later. The payment of a purchase that was cancelled is looked
 * for as well: once it is there it is due to its payer.
 */
export async function confirmPayment(parts: FulfilmentParts, toConfirm: ToConfirm): Promise<void> {
  const { db, networks, now = Date.now } = parts;
  const { purchaseId, looks = 0 } = toConfirm;
  const purchase = await findPurchase(db, purchaseId);
  if (!purchase || !awaitsPayment(purchase)) return;
  const sight = await lookForPayment(networks, purchase);
  if (sight.state === 'paid') return db.tx((tx) => storePaid(tx, purchaseId, sight));
  if (sight.state === 'unpaid' && purchase.record.status === 'PENDING') {
    return db.tx((tx) => endUnpaid(tx, purchaseId, sight.reason));
  }
  const missingSince = missingSinceAfter(sight, toConfirm.missingSince, now());
  if (sight.state !== 'unanswered' && missingSince !== undefined && now() - missingSince >= MISSED_FOR_MS) {
    return db.tx((tx) => believe(tx, purchaseId, sight));
  }
  const payload: ToConfirm = { purchaseId, looks: looks + 1, ...(missingSince !== undefined && { missingSince }) };
  const runAt = new Date(now() + nextConfirmationMs(looks, missingSince !== undefined));
  await enqueue(db, { ...confirmPaymentJob(purchaseId), payload, runAt });
}

const awaitsPayment = ({ record: { status }, paidAt }: Purchase): boolean =>
  paidAt === undefined && (status === 'PENDING' || status === 'CANCELLED');

/** Only the sight of the payment ends the time in which it is missing; a node that does not answer changes nothing. */
function missingSinceAfter({ state }: PaymentSight, before: number | undefined, now: number): number | undefined {
  if (state === 'waiting') return undefined;
  return state === 'unanswered' ? before : (before ?? now);
}

/** What the chain has not shown for so long is as it shows it now. */
function believe(tx: Db, id: string, sight: PaymentSight): Promise<void> {
  if (sight.state !== 'less') return endUnpaid(tx, id, GONE);
  return sight.amount > 0n ? storePaid(tx, id, sight) : endUnpaid(tx, id, NOT_SHOWN);
}

/** What the sight of a payment in a sealed block means for a purchase, whatever has become of it meanwhile. */
export async function storePaid(tx: Db, id: string, paid: Paid): Promise<void> {
  const purchase = await lockPurchase(tx, id);
  if (!purchase || purchase.paidAt) return;
  await markPaid(tx, id, paid);
  if (purchase.record.status !== 'PENDING') return markRefundDue(tx, id);
  if (paid.amount < purchase.payment.amount) {
    await changePurchase(tx, id, { status: 'FAILED', failureReason: SMALLER, refundDue: true });
  } else {
    await changePurchase(tx, id, { status: 'PROCESSING' });
    await enqueue(tx, orderJob(purchase));
  }
  await announce(tx, id);
}

async function endUnpaid(tx: Db, id: string, failureReason: string): Promise<void> {
  const purchase = await lockPurchase(tx, id);
  if (purchase?.record.status !== 'PENDING') return;
  await changePurchase(tx, id, { status: 'FAILED', failureReason });
  await announce(tx, id);
}
