import { ApiError, type Environment, type endpoints, environments } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { recordChange } from '../audit-log.ts';
import type { Answer, Call } from '../http/call.ts';
import { replyWithError } from '../http/request-hooks.ts';
import { enqueue } from '../jobs/job.ts';
import { isFresh, isSigned, readSignature, type Signature, TOLERANCE_SECONDS } from '../outbound/webhook-signature.ts';
import { toTransaction } from '../transactions/record.ts';
import { type FulfilmentDeps, observePayment, type PaymentObservation } from './confirm-payment.ts';
import { type Fulfilment, type OrderResult, type Provider, readOrderAnswer } from './provider.ts';
import {
  changePurchase,
  findPurchase,
  lockPurchase,
  markAccepted,
  markOrdered,
  markPaid,
  notifyOrganization,
  orderJob,
  ownPurchase,
  type Purchase,
  type PurchaseChange,
  type ToOrder,
} from './purchase.ts';

/** Retries without limit: a provider that does not answer may have delivered. */
export async function orderPurchase(deps: FulfilmentDeps, { purchaseId }: ToOrder, signal: AbortSignal): Promise<void> {
  const { db, providers, log } = deps;
  const purchase = await findPurchase(db, purchaseId);
  if (purchase?.record.status !== 'PROCESSING') return;
  logOverdue(deps, purchase);
  const provider = providers(purchase.record.environment);
  if (!provider) {
    log.error({ purchaseId, environment: purchase.record.environment }, 'no provider configured for this environment');
    return reschedule(deps, purchase, retryDelayMs);
  }
  if (!(await isStillPaid(deps, purchase))) return reschedule(deps, purchase, retryDelayMs);
  const result = await askProvider(deps, provider, purchase, signal).catch((error: unknown) => {
    log.warn({ purchaseId, err: error }, 'provider gave no outcome');
    return undefined;
  });
  if (result === 'ended') return;
  if (!result) return reschedule(deps, purchase, retryDelayMs);
  if (result.state !== 'accepted') return storeResult(deps, purchase, result);
  await markAccepted(db, purchaseId);
  await reschedule(deps, purchase, lookupDelayMs);
}

/** A reorganisation may have removed the payment before a late first order. */
async function isStillPaid(deps: FulfilmentDeps, purchase: Purchase): Promise<boolean> {
  const { log, now = Date.now } = deps;
  if (purchase.orderedAt || ageMs(purchase, now()) < LATE_MS) return true;
  const { state } = await observePayment(deps, purchase);
  if (state === 'paid') return true;
  const purchaseId = purchase.record.id;
  log.error({ purchaseId, payment: state }, 'purchase not ordered: payment not on the chain');
  return false;
}

/** Commits `ordered_at` before the call, so that a retry looks the order up. False where the purchase has ended. */
function startOrder({ db }: FulfilmentDeps, id: string): Promise<boolean> {
  return db.tx(async (tx) => {
    const purchase = await lockPurchase(tx, id);
    if (purchase?.record.status !== 'PROCESSING') return false;
    await markOrdered(tx, id);
    return true;
  });
}

/** An unknown order is repeated under the same id. An accepted one never is: it may have been delivered. */
async function askProvider(
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
    deps.log.error({ purchaseId: orderId, acceptedAt }, 'provider lost an accepted order');
    return undefined;
  }
  // Checked each time: the purchase may have ended during the lookup.
  return (await startOrder(deps, orderId)) ? provider.order(order, signal) : 'ended';
}

async function storeResult({ db, log }: FulfilmentDeps, { record }: Purchase, result: OrderResult): Promise<void> {
  const { result: accepted, order } = await acceptResult(db, record.environment, record.id, result);
  if (accepted !== 'contradicted') return;
  log.error({ purchaseId: record.id, stored: order, received: result }, 'provider result differs from the stored end');
}

function reschedule(
  { db, now = Date.now }: FulfilmentDeps,
  purchase: Purchase,
  delayMs: (ageMs: number) => number,
): Promise<void> {
  return enqueue(db, orderJob(purchase, new Date(now() + delayMs(ageMs(purchase, now())))));
}

function logOverdue({ log, now = Date.now }: FulfilmentDeps, purchase: Purchase): void {
  const { orderedAt, acceptedAt, record } = purchase;
  if (ageMs(purchase, now()) < OVERDUE_MS) return;
  log.error({ purchaseId: record.id, orderedAt, acceptedAt }, 'purchase without an outcome for more than a day');
}

const ageMs = ({ paidAt, record }: Purchase, now: number): number => now - (paidAt ?? record.createdAt).getTime();

/** `ended`: it had ended before, and the first result counts. `unknown`: no such order, or its provider was never called. */
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

export async function cancelSkuPurchase(
  deps: Pick<FulfilmentDeps, 'db' | 'networks' | 'log'>,
  { caller, params: { id }, transact }: Call<CancelSkuPurchase>,
): Promise<Answer<CancelSkuPurchase>> {
  const known = await ownPurchase(deps.db, caller, id);
  // Before the row is locked: a slow node must not block others.
  const observation: PaymentObservation =
    known.record.status === 'PENDING' ? await observePayment(deps, known) : { state: 'unanswered' };
  return transact(async (tx) => {
    const locked = await lockPurchase(tx, id);
    if (locked?.record.status === 'PENDING') {
      await cancelPending(tx, id, observation);
      await recordChange(tx, caller, {
        action: 'sku-purchase.cancelled',
        target: id,
        changes: { status: 'CANCELLED' },
      });
    } else if (locked?.record.status !== 'CANCELLED') throw new ApiError('purchase_not_cancellable');
    return toTransaction((await ownPurchase(tx, caller, id)).record);
  });
}

/** The row is locked and PENDING. The confirmation job goes on looking for the payment. */
export async function cancelPending(tx: Db, id: string, observation: PaymentObservation): Promise<void> {
  const isPaid = observation.state === 'paid';
  if (isPaid) await markPaid(tx, id, observation);
  await changePurchase(tx, id, { status: 'CANCELLED', refundDue: isPaid });
  await notifyOrganization(tx, id);
}

const HOUR_MS = 3_600_000;
const FIRST_LOOKUP_MS = 30_000;
const FIRST_RETRY_MS = 2_000;
const MAX_DELAY_MS = HOUR_MS;
const DELAYS_PER_AGE = 2;
const LATE_MS = 300_000;
const OVERDUE_MS = 24 * HOUR_MS;

const lookupDelayMs = (ageMs: number): number => backoffMs(FIRST_LOOKUP_MS, ageMs);

const retryDelayMs = (ageMs: number): number => backoffMs(FIRST_RETRY_MS, ageMs);

const backoffMs = (first: number, ageMs: number) => Math.min(Math.max(ageMs / DELAYS_PER_AGE, first), MAX_DELAY_MS);

/** `contradicted`: the order has ended with another result, which stays. */
type AcceptedResult = 'known' | 'contradicted' | 'unknown';

function acceptResult(
  db: Db,
  environment: Environment,
  orderId: string,
  result: OrderResult,
): Promise<{ readonly result: AcceptedResult; readonly order: OrderRow | undefined }> {
  return db.tx(async (tx) => {
    const found = await findOrder(tx, orderId);
    if (found?.environment !== environment) return { result: 'unknown', order: undefined };
    const outcome = await endOrder(tx, orderId, result);
    if (outcome === 'unknown') return { result: 'unknown', order: undefined };
    // Read again under the lock: it may have ended in between.
    const order = await findOrder(tx, orderId);
    const isKnown = outcome === 'stored' || (order !== undefined && isSameResult(order, result));
    return { result: isKnown ? 'known' : 'contradicted', order };
  });
}

/** The reason of a failure may differ, and `accepted` may arrive after the end. */
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

interface OrderRow {
  readonly environment: Environment;
  readonly status: string;
  readonly fileNumber: string | null;
}

function findOrder(tx: Db, orderId: string): Promise<OrderRow | undefined> {
  return tx.one<OrderRow>(sql`
    select t.environment, t.status, t.sku_file_number as "fileNumber"
      from sku_purchases p join transactions t on t.id = p.id
     where p.id = ${orderId} and p.ordered_at is not null`);
}

const MAX_BODY_BYTES = 64 * 1024;
const ORDER_ID = /^\w{1,64}$/;

export interface CallbackDeps {
  readonly db: Db;
  readonly fulfilment: Fulfilment;
  readonly now?: () => number;
}

interface WithOrder {
  readonly Params: { readonly orderId: string };
}

/** Outside the public interface. The body is read as bytes because the signature covers bytes. */
export async function registerProviderCallback(app: FastifyInstance, deps: CallbackDeps): Promise<void> {
  const { db, fulfilment, now = Date.now } = deps;
  app.removeAllContentTypeParsers();
  const limits = { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES } as const;
  app.addContentTypeParser('application/json', limits, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: FastifyError, request, reply) => replyWithError(withOwnLimit(error), request, reply));

  app.post<WithOrder>('/provider/orders/:orderId/result', {
    // Before the body is read: a request without a fresh signature costs nothing.
    onRequest: async (request) => void requireSignature(request, now()),
    handler: async (request, reply) => {
      const { orderId } = request.params;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const environment = signedFor(fulfilment, requireSignature(request, now()), body);
      const { result, order } = await acceptResult(db, environment, orderId, requireResult(body));
      if (result === 'known') return reply.code(204).send();
      if (result === 'unknown') throw new ApiError('purchase_not_found', 'No order has this id.');
      request.log.warn(
        { orderId, reqId: request.id, status: order?.status },
        'provider sent a second, different result',
      );
      throw new ApiError('invalid_request', `This order has ended before with another result, ${order?.status}.`);
    },
  });
}

/** The signature covers the order's id, so it cannot be used for another order. */
function requireSignature({ headers, params }: FastifyRequest, now: number): Signature {
  const signature = readSignature(headers);
  if (!signature)
    throw unauthorized('Send webhook-id, webhook-timestamp and webhook-signature as Standard Webhooks says.');
  const { orderId } = params as WithOrder['Params'];
  if (signature.id !== orderId || !ORDER_ID.test(orderId)) throw unauthorized("webhook-id must be the order's id.");
  if (isFresh(signature, now)) return signature;
  throw unauthorized(`webhook-timestamp must be within ${TOLERANCE_SECONDS} seconds of our clock.`);
}

function signedFor(fulfilment: Fulfilment, signature: Signature, body: Uint8Array): Environment {
  const signer = environments.find((environment) => {
    const access = fulfilment(environment);
    return access !== undefined && isSigned(access.secret, signature, body);
  });
  if (signer) return signer;
  throw unauthorized('The signature does not verify. Sign the exact bytes of the body with FULFILMENT_SECRET.');
}

function requireResult(body: Uint8Array): OrderResult {
  const answer = readOrderAnswer(body);
  if (answer && answer.state !== 'unknown') return answer;
  throw new ApiError(
    'invalid_request',
    'The body must be {"status":"completed","fileNumber":…}, {"status":"failed","reason":…} or {"status":"accepted"}.',
  );
}

function unauthorized(message: string): ApiError {
  return new ApiError('invalid_signature', message, { status: 401 });
}

/** The default message names the limit of the public interface. */
function withOwnLimit(error: FastifyError): Error {
  const isTooLarge = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
  return isTooLarge ? new ApiError('invalid_request', 'The body is larger than 64 KiB.') : error;
}
