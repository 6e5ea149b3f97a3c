import { type Database, type Db, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { enqueue, enqueueMany, type JobLog } from '../jobs/job.ts';
import { type ChainTransfer, observeTransaction } from '../transactions/chain-transaction.ts';
import type { Providers } from './provider.ts';
import {
  CONFIRM_PAYMENT_TASK,
  changePurchase,
  confirmPaymentJob,
  findPurchase,
  lockPurchase,
  markPaid,
  markRefundDue,
  notifyOrganization,
  ORDER_TASK,
  orderJob,
  type Payment,
  type Purchase,
  type ToConfirm,
} from './purchase.ts';

export interface FulfilmentDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly providers: Providers;
  readonly log: JobLog;
  readonly now?: (() => number) | undefined;
}

const GONE = 'The chain no longer knows the payment.';
const NOT_MOVED = 'The transaction did not move what was recorded.';
const SMALLER = 'The payment is smaller on the chain than when it was recorded.';

/** A late payment of a cancelled purchase is due for refund. */
export async function confirmPayment(deps: FulfilmentDeps, toConfirm: ToConfirm): Promise<void> {
  const { db, now = Date.now } = deps;
  const { purchaseId, looks = 0 } = toConfirm;
  const purchase = await findPurchase(db, purchaseId);
  if (!purchase || !awaitsPayment(purchase)) return;
  const observation = await observePayment(deps, purchase);
  if (observation.state === 'paid') return db.tx((tx) => storePaid(tx, purchaseId, observation));
  if (observation.state === 'unpaid' && purchase.record.status === 'PENDING') {
    return db.tx((tx) => endUnpaid(tx, purchaseId, observation.reason));
  }
  const missingSince = missingSinceAfter(observation, toConfirm.missingSince, now());
  if (observation.state !== 'unanswered' && missingSince !== undefined && now() - missingSince >= GONE_AFTER_MS) {
    return db.tx((tx) => applyObservation(tx, purchaseId, observation));
  }
  const payload: ToConfirm = { purchaseId, looks: looks + 1, ...(missingSince !== undefined && { missingSince }) };
  const runAt = new Date(now() + confirmDelayMs(looks, missingSince !== undefined));
  await enqueue(db, { ...confirmPaymentJob(purchase.record), payload, runAt });
}

const awaitsPayment = ({ record: { status }, paidAt }: Purchase): boolean =>
  paidAt === undefined && (status === 'PENDING' || status === 'CANCELLED');

/** A node that does not answer changes nothing. */
function missingSinceAfter({ state }: PaymentObservation, before: number | undefined, now: number): number | undefined {
  if (state === 'waiting') return undefined;
  return state === 'unanswered' ? before : (before ?? now);
}

function applyObservation(tx: Db, id: string, observation: PaymentObservation): Promise<void> {
  if (observation.state !== 'less') return endUnpaid(tx, id, GONE);
  return observation.amount > 0n ? storePaid(tx, id, observation) : endUnpaid(tx, id, NOT_MOVED);
}

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
  await notifyOrganization(tx, id);
}

async function endUnpaid(tx: Db, id: string, failureReason: string): Promise<void> {
  const purchase = await lockPurchase(tx, id);
  if (purchase?.record.status !== 'PENDING') return;
  await changePurchase(tx, id, { status: 'FAILED', failureReason });
  await notifyOrganization(tx, id);
}

export interface Paid {
  readonly amount: bigint;
  readonly blockTime: Date;
}

/** `less`: perhaps an incomplete receipt. `unpaid`: reverted. `waiting`: not in a sealed block. */
export type PaymentObservation =
  | ({ readonly state: 'paid' | 'less' } & Paid)
  | { readonly state: 'unpaid'; readonly reason: string }
  | { readonly state: 'missing' | 'waiting' | 'unanswered' };

const REVERTED = 'The payment was reverted on the chain';

/** Never throws: an error is logged and `unanswered`. */
export function observePayment(
  { networks, log }: Pick<FulfilmentDeps, 'networks' | 'log'>,
  { record, payment }: Purchase,
): Promise<PaymentObservation> {
  return readPaymentState(networks, record.environment, payment).catch((error: unknown): PaymentObservation => {
    log.warn({ purchaseId: record.id, transactionHash: payment.hash, err: error }, 'payment not readable');
    return { state: 'unanswered' };
  });
}

async function readPaymentState(
  networks: Networks,
  environment: Purchase['record']['environment'],
  payment: Payment,
): Promise<PaymentObservation> {
  const transaction = await observeTransaction(networks, environment, 'STARKNET', payment.hash);
  if (transaction === 'unknown') return { state: 'missing' };
  if (transaction === 'waiting' || !transaction.accepted || !transaction.time) return { state: 'waiting' };
  if (transaction.reverted) {
    const { revertReason } = transaction;
    return { state: 'unpaid', reason: revertReason ? `${REVERTED}: ${revertReason}` : `${REVERTED}.` };
  }
  const amount = sumOf(payment, transaction.transfers);
  const state = amount > 0n && amount >= payment.amount ? 'paid' : 'less';
  return { state, amount, blockTime: transaction.time };
}

function sumOf({ token, payer, recipient }: Payment, transfers: readonly ChainTransfer[]): bigint {
  const own = transfers.filter((one) => one.token === token && one.from === payer && one.to === recipient);
  return own.reduce((sum, { amount }) => sum + amount, 0n);
}

const MAX_REQUEUED = 500;

/** A cancelled purchase waits for a late payment for longer than `GONE_AFTER_MS`. */
export async function requeueStalledPurchases(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const unpaid = await tx.rows<Purchase['record']>(sql`
      select id, organization_id as "organizationId" from transactions
       where type = 'SKU_PURCHASE' and status = 'PENDING' and ${hasNoJob(CONFIRM_PAYMENT_TASK)}
      union all
      select id, organization_id from transactions
       where type = 'SKU_PURCHASE' and status = 'CANCELLED' and refund_status is null
         and updated_at > now() - interval '48 hours' and ${hasNoJob(CONFIRM_PAYMENT_TASK)}
       limit ${MAX_REQUEUED}`);
    const unordered = await tx.rows<Purchase['record']>(sql`
      select id, environment, organization_id as "organizationId" from transactions
       where type = 'SKU_PURCHASE' and status = 'PROCESSING' and ${hasNoJob(ORDER_TASK)}
       order by id limit ${MAX_REQUEUED}`);
    await enqueueMany(tx, [...unpaid.map(confirmPaymentJob), ...unordered.map((record) => orderJob({ record }))]);
  });
}

const hasNoJob = (task: string) => sql`
  not exists (select from jobs where task = ${task} and key = transactions.id and failed_at is null)`;

/** A payment that a reorganisation removed may return within a day. */
const GONE_AFTER_MS = 24 * 3_600_000;
const FIRST_CONFIRM_MS = 1_000;
const MAX_CONFIRM_MS = 30_000;
const MAX_MISSING_MS = 300_000;

const confirmDelayMs = (looks: number, missing: boolean): number =>
  Math.min(FIRST_CONFIRM_MS * 2 ** looks, missing ? MAX_MISSING_MS : MAX_CONFIRM_MS);
