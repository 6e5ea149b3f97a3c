import { enqueue } from '../../jobs/enqueue.ts';
import { reasonOf } from '../../jobs/job.ts';
import type { OrderResult, Provider } from '../providers/provider.ts';
import { takeResult } from '../providers/take-result.ts';
import { orderJob, type ToOrder } from './order-job.ts';
import type { FulfilmentParts } from './parts.ts';
import { LATE_MS, nextLookMs, nextRetryMs, OVERDUE_MS } from './patience.ts';
import { lookForPayment } from './payment.ts';
import { findPurchase, lockPurchase, type Purchase } from './purchase.ts';
import { markAccepted, markOrdered } from './store.ts';

/**
 * Has a purchase delivered, or asks what became of its order, and comes back until an outcome is known. It never gives up: a provider that
 * does not answer may have delivered.
 */
export async function orderPurchase(
  parts: FulfilmentParts,
  { purchaseId }: ToOrder,
  signal: AbortSignal,
): Promise<void> {
  const { db, providers, log } = parts;
  const purchase = await findPurchase(db, purchaseId);
  if (purchase?.record.status !== 'PROCESSING') return;
  complainWhenOverdue(parts, purchase);
  const provider = providers(purchase.record.environment);
  if (!provider) {
    log.error({ purchaseId, environment: purchase.record.environment }, 'a purchase has nobody who delivers it');
    return comeBack(parts, purchase, nextRetryMs);
  }
  if (!(await isStillPaid(parts, purchase))) return comeBack(parts, purchase, nextRetryMs);
  const result = await ask(parts, provider, purchase, signal).catch((error: unknown) => {
    log.warn({ purchaseId, reason: reasonOf(error) }, 'the provider of a purchase did not tell an outcome');
    return undefined;
  });
  if (result === 'ended') return;
  if (!result) return comeBack(parts, purchase, nextRetryMs);
  if (result.state !== 'accepted') return end(parts, purchase, result);
  await markAccepted(db, purchaseId);
  await comeBack(parts, purchase, nextLookMs);
}

/** Where the first call comes late, because nobody could be called before, the chain may have lost the payment meanwhile. */
async function isStillPaid({ networks, log, now = Date.now }: FulfilmentParts, purchase: Purchase): Promise<boolean> {
  if (purchase.orderedAt || ageMs(purchase, now()) < LATE_MS) return true;
  const { state } = await lookForPayment(networks, purchase);
  if (state === 'paid') return true;
  const purchaseId = purchase.record.id;
  log.error({ purchaseId, payment: state }, 'a purchase is not ordered, because the chain does not show its payment');
  return false;
}

/** Committed before the provider hears of it: whoever finds it set asks what became of the order. False when the purchase has ended. */
function begin({ db }: FulfilmentParts, id: string): Promise<boolean> {
  return db.tx(async (tx) => {
    const purchase = await lockPurchase(tx, id);
    if (purchase?.record.status !== 'PROCESSING') return false;
    await markOrdered(tx, id);
    return true;
  });
}

/**
 * An order whose call ended without an outcome is looked up; what the provider has never seen is ordered again, as the same order. What it
 * had accepted is not: it may have delivered before it forgot.
 */
async function ask(
  parts: FulfilmentParts,
  provider: Provider,
  { order, orderedAt, acceptedAt }: Purchase,
  signal: AbortSignal,
): Promise<OrderResult | 'ended' | undefined> {
  const { orderId } = order;
  if (orderedAt) {
    const known = await provider.lookUp(orderId, signal);
    if (known.state !== 'unknown') return known;
  }
  if (acceptedAt) {
    parts.log.error({ purchaseId: orderId, acceptedAt }, 'a provider no longer knows an order that it had accepted');
    return undefined;
  }
  // Each time: while it was looked up, somebody else may have ended the purchase.
  return (await begin(parts, orderId)) ? provider.order(order, signal) : 'ended';
}

async function end({ db, log }: FulfilmentParts, { record }: Purchase, result: OrderResult): Promise<void> {
  const { taken, order } = await takeResult(db, record.environment, record.id, result);
  if (taken !== 'contradicted') return;
  log.error({ purchaseId: record.id, stored: order, told: result }, 'a provider contradicts how a purchase has ended');
}

function comeBack(
  { db, now = Date.now }: FulfilmentParts,
  purchase: Purchase,
  pauseMs: (ageMs: number) => number,
): Promise<void> {
  return enqueue(db, orderJob(purchase, new Date(now() + pauseMs(ageMs(purchase, now())))));
}

/** It is looked at hourly by then, so the log says it hourly. */
function complainWhenOverdue({ log, now = Date.now }: FulfilmentParts, purchase: Purchase): void {
  const { orderedAt, acceptedAt, record } = purchase;
  if (ageMs(purchase, now()) < OVERDUE_MS) return;
  log.error({ purchaseId: record.id, orderedAt, acceptedAt }, 'a purchase has had no outcome for more than a day');
}

const ageMs = ({ paidAt, record }: Purchase, now: number): number => now - (paidAt ?? record.createdAt).getTime();
