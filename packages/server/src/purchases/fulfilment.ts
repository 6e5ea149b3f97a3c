import { ApiError, type Environment, type endpoints } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import type { Answer, Call } from '../http/call.ts';
import { enqueue } from '../jobs/job.ts';
import { toTransaction } from '../transactions/record.ts';
import { errorText } from '../util/text.ts';
import { type FulfilmentDeps, HOUR_MS, observePayment, type PaymentObservation } from './confirm-payment.ts';
import { notifyOrganization } from './notify.ts';
import type { OrderResult, Provider } from './provider.ts';
import {
  changePurchase,
  findPurchase,
  lockPurchase,
  markAccepted,
  markOrdered,
  markPaid,
  orderJob,
  ownPurchase,
  type Purchase,
  type PurchaseChange,
  type ToOrder,
} from './purchase.ts';

/**
 * Has a purchase delivered, or asks what became of its order, and comes back until an outcome is known. It never gives up: a provider that
 * does not answer may have delivered.
 */
export async function orderPurchase(deps: FulfilmentDeps, { purchaseId }: ToOrder, signal: AbortSignal): Promise<void> {
  const { db, providers, log } = deps;
  const purchase = await findPurchase(db, purchaseId);
  if (purchase?.record.status !== 'PROCESSING') return;
  complainWhenOverdue(deps, purchase);
  const provider = providers(purchase.record.environment);
  if (!provider) {
    log.error({ purchaseId, environment: purchase.record.environment }, 'a purchase has nobody who delivers it');
    return reschedule(deps, purchase, nextRetryMs);
  }
  if (!(await isStillPaid(deps, purchase))) return reschedule(deps, purchase, nextRetryMs);
  const result = await ask(deps, provider, purchase, signal).catch((error: unknown) => {
    log.warn({ purchaseId, reason: errorText(error) }, 'the provider of a purchase did not tell an outcome');
    return undefined;
  });
  if (result === 'ended') return;
  if (!result) return reschedule(deps, purchase, nextRetryMs);
  if (result.state !== 'accepted') return end(deps, purchase, result);
  await markAccepted(db, purchaseId);
  await reschedule(deps, purchase, nextLookMs);
}

/** Where the first call comes late, because nobody could be called before, the chain may have lost the payment meanwhile. */
async function isStillPaid({ networks, log, now = Date.now }: FulfilmentDeps, purchase: Purchase): Promise<boolean> {
  if (purchase.orderedAt || ageMs(purchase, now()) < LATE_MS) return true;
  const { state } = await observePayment(networks, purchase);
  if (state === 'paid') return true;
  const purchaseId = purchase.record.id;
  log.error({ purchaseId, payment: state }, 'a purchase is not ordered, because the chain does not show its payment');
  return false;
}

/** Committed before the provider hears of it: whoever finds it set asks what became of the order. False when the purchase has ended. */
function begin({ db }: FulfilmentDeps, id: string): Promise<boolean> {
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
  deps: FulfilmentDeps,
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
    deps.log.error({ purchaseId: orderId, acceptedAt }, 'a provider no longer knows an order that it had accepted');
    return undefined;
  }
  // Each time: while it was looked up, somebody else may have ended the purchase.
  return (await begin(deps, orderId)) ? provider.order(order, signal) : 'ended';
}

async function end({ db, log }: FulfilmentDeps, { record }: Purchase, result: OrderResult): Promise<void> {
  const { taken, order } = await acceptResult(db, record.environment, record.id, result);
  if (taken !== 'contradicted') return;
  log.error({ purchaseId: record.id, stored: order, told: result }, 'a provider contradicts how a purchase has ended');
}

function reschedule(
  { db, now = Date.now }: FulfilmentDeps,
  purchase: Purchase,
  pauseMs: (ageMs: number) => number,
): Promise<void> {
  return enqueue(db, orderJob(purchase, new Date(now() + pauseMs(ageMs(purchase, now())))));
}

/** It is looked at hourly by then, so the log says it hourly. */
function complainWhenOverdue({ log, now = Date.now }: FulfilmentDeps, purchase: Purchase): void {
  const { orderedAt, acceptedAt, record } = purchase;
  if (ageMs(purchase, now()) < OVERDUE_MS) return;
  log.error({ purchaseId: record.id, orderedAt, acceptedAt }, 'a purchase has had no outcome for more than a day');
}

const ageMs = ({ paidAt, record }: Purchase, now: number): number => now - (paidAt ?? record.createdAt).getTime();

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
  await notifyOrganization(tx, purchaseId);
  return 'stored';
}

function changeOf(result: Exclude<OrderResult, { state: 'accepted' }>, blockTime: Date | undefined): PurchaseChange {
  return result.state === 'completed'
    ? { status: 'SUCCESS', fileNumber: result.fileNumber, confirmedAt: blockTime }
    : { status: 'FAILED', failureReason: result.reason, refundDue: true };
}

type CancelSkuPurchase = typeof endpoints.cancelSkuPurchase;

/** Stops a purchase whose provider was not called. What was paid, or is found to be paid later, is due for refund. */
export async function cancelSkuPurchase(
  { db, networks }: Pick<FulfilmentDeps, 'db' | 'networks'>,
  { caller, params: { id }, transact }: Call<CancelSkuPurchase>,
): Promise<Answer<CancelSkuPurchase>> {
  const known = await ownPurchase(db, caller, id);
  // Asked before the row is locked: a node that does not answer must hold up nobody.
  const sight: PaymentObservation =
    known.record.status === 'PENDING' ? await observePayment(networks, known) : { state: 'unanswered' };
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
export async function cancelPending(tx: Db, id: string, sight: PaymentObservation): Promise<void> {
  const isPaid = sight.state === 'paid';
  if (isPaid) await markPaid(tx, id, sight);
  await changePurchase(tx, id, { status: 'CANCELLED', refundDue: isPaid });
  await notifyOrganization(tx, id);
}

/** Providers that answer later mostly do within a minute, and tell so by callback; looking is for those that do not. */
const FIRST_LOOK_MS = 30_000;
/** What failed may work in a moment. */
const FIRST_RETRY_MS = 2_000;
const LONGEST_MS = HOUR_MS;
/** The longer it takes already, the less it matters when the end is seen. */
const SHARE_OF_AGE = 2;

/** A payment that was seen so long ago is looked at again before its provider hears of it. */
export const LATE_MS = 300_000;

/** After a day somebody has to look. */
export const OVERDUE_MS = 24 * HOUR_MS;

/** When to ask again for an order that the provider accepted so long ago. */
export const nextLookMs = (ageMs: number): number => between(FIRST_LOOK_MS, ageMs);

/** When to ask a provider again that has not answered, for an order that is so old. */
export const nextRetryMs = (ageMs: number): number => between(FIRST_RETRY_MS, ageMs);

const between = (first: number, ageMs: number) => Math.min(Math.max(ageMs / SHARE_OF_AGE, first), LONGEST_MS);

/** `known`: the order has this result, now or since before. `contradicted`: it had ended with another one, which stays. */
export type Taken = 'known' | 'contradicted' | 'unknown';

/** What a provider says of an order by itself. Orders of another environment are unknown to it. */
export function acceptResult(
  db: Db,
  environment: Environment,
  orderId: string,
  result: OrderResult,
): Promise<{ readonly taken: Taken; readonly order: OrderRow | undefined }> {
  return db.tx(async (tx) => {
    const found = await findOrder(tx, orderId);
    if (found?.environment !== environment) return { taken: 'unknown', order: undefined };
    const outcome = await endOrder(tx, orderId, result);
    if (outcome === 'unknown') return { taken: 'unknown', order: undefined };
    // Looked at again: the row is locked now, and before it may not have had its end yet.
    const order = await findOrder(tx, orderId);
    const isKnown = outcome === 'stored' || (order !== undefined && isSameResult(order, result));
    return { taken: isKnown ? 'known' : 'contradicted', order };
  });
}

/** Why it failed may be said in other words, and that it was accepted may be overtaken by its end. */
function isSameResult({ status, fileNumber }: OrderRow, result: OrderResult): boolean {
  switch (result.state) {
    case 'accepted':
      return true;
    case 'failed':
      return status === 'FAILED';
    case 'completed':
      return status === 'SUCCESS' && fileNumber === result.fileNumber;
  }
}

export interface OrderRow {
  readonly environment: Environment;
  readonly status: string;
  readonly fileNumber: string | null;
}

/** A purchase whose provider was called. */
export function findOrder(tx: Db, orderId: string): Promise<OrderRow | undefined> {
  return tx.one<OrderRow>(sql`
    select t.environment, t.status, t.sku_file_number as "fileNumber"
      from sku_purchases p join transactions t on t.id = p.id
     where p.id = ${orderId} and p.ordered_at is not null`);
}
