import { type Database, type Db, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { enqueue, enqueueMany, type JobLog } from '../jobs/job.ts';
import { type ChainTransfer, observeTransaction } from '../transactions/chain-transaction.ts';
import { notifyOrganization } from './notify.ts';
import type { Providers } from './provider.ts';
import {
  CONFIRM_PAYMENT_TASK,
  changePurchase,
  confirmPaymentJob,
  findPurchase,
  lockPurchase,
  markPaid,
  markRefundDue,
  ORDER_TASK,
  orderJob,
  type Payment,
  type Purchase,
  type ToConfirm,
} from './purchase.ts';

const GONE = 'The chain no longer knows the payment.';
const NOT_SHOWN = 'The transaction did not move what was recorded.';
const SMALLER = 'The payment is smaller on the chain than when it was recorded.';

/**
 * Looks at the chain, and either goes on with the purchase or comes back later. The payment of a purchase that was cancelled is looked
 * for as well: once it is there it is due to its payer.
 */
export async function confirmPayment(deps: FulfilmentDeps, toConfirm: ToConfirm): Promise<void> {
  const { db, networks, now = Date.now } = deps;
  const { purchaseId, looks = 0 } = toConfirm;
  const purchase = await findPurchase(db, purchaseId);
  if (!purchase || !awaitsPayment(purchase)) return;
  const sight = await observePayment(networks, purchase);
  if (sight.state === 'paid') return db.tx((tx) => storePaid(tx, purchaseId, sight));
  if (sight.state === 'unpaid' && purchase.record.status === 'PENDING') {
    return db.tx((tx) => endUnpaid(tx, purchaseId, sight.reason));
  }
  const missingSince = missingSinceAfter(sight, toConfirm.missingSince, now());
  if (sight.state !== 'unanswered' && missingSince !== undefined && now() - missingSince >= MISSED_FOR_MS) {
    return db.tx((tx) => applyObservation(tx, purchaseId, sight));
  }
  const payload: ToConfirm = { purchaseId, looks: looks + 1, ...(missingSince !== undefined && { missingSince }) };
  const runAt = new Date(now() + nextConfirmationMs(looks, missingSince !== undefined));
  await enqueue(db, { ...confirmPaymentJob(purchaseId), payload, runAt });
}

const awaitsPayment = ({ record: { status }, paidAt }: Purchase): boolean =>
  paidAt === undefined && (status === 'PENDING' || status === 'CANCELLED');

/** Only the sight of the payment ends the time in which it is missing; a node that does not answer changes nothing. */
function missingSinceAfter({ state }: PaymentObservation, before: number | undefined, now: number): number | undefined {
  if (state === 'waiting') return undefined;
  return state === 'unanswered' ? before : (before ?? now);
}

/** What the chain has not shown for so long is as it shows it now. */
function applyObservation(tx: Db, id: string, sight: PaymentObservation): Promise<void> {
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
  await notifyOrganization(tx, id);
}

async function endUnpaid(tx: Db, id: string, failureReason: string): Promise<void> {
  const purchase = await lockPurchase(tx, id);
  if (purchase?.record.status !== 'PENDING') return;
  await changePurchase(tx, id, { status: 'FAILED', failureReason });
  await notifyOrganization(tx, id);
}

/** What a sealed block shows to have gone from the payer to the payment address. */
export interface Paid {
  readonly amount: bigint;
  readonly blockTime: Date;
}

/**
 * What the chain shows of a payment. `paid`: a sealed block shows at least what was recorded. `less`: it shows less, or nothing, which was
 * seen otherwise before, so it may as well be a receipt that lacks events. `unpaid`: it was reverted there. `missing`: the chain does not
 * know it. `waiting`: the chain has it, outside of a sealed block. `unanswered`: there is nothing to tell.
 */
export type PaymentObservation =
  | ({ readonly state: 'paid' | 'less' } & Paid)
  | { readonly state: 'unpaid'; readonly reason: string }
  | { readonly state: 'missing' | 'waiting' | 'unanswered' };

const REVERTED = 'The payment was reverted on the chain';

/** A chain that gives no answer, or is not configured at the moment, is `unanswered`, however long that takes. */
export function observePayment(networks: Networks, { record, payment }: Purchase): Promise<PaymentObservation> {
  return look(networks, record.environment, payment).catch((): PaymentObservation => ({ state: 'unanswered' }));
}

async function look(
  networks: Networks,
  environment: Purchase['record']['environment'],
  payment: Payment,
): Promise<PaymentObservation> {
  const sight = await observeTransaction(networks, environment, 'STARKNET', payment.hash);
  if (sight === 'unknown') return { state: 'missing' };
  if (sight === 'waiting' || !sight.accepted || !sight.time) return { state: 'waiting' };
  if (sight.reverted) {
    return { state: 'unpaid', reason: sight.revertReason ? `${REVERTED}: ${sight.revertReason}` : `${REVERTED}.` };
  }
  const amount = sumOf(payment, sight.transfers);
  return { state: amount > 0n && amount >= payment.amount ? 'paid' : 'less', amount, blockTime: sight.time };
}

/** All that went from the payer to the payment address counts. */
function sumOf({ token, payer, recipient }: Payment, transfers: readonly ChainTransfer[]): bigint {
  const own = transfers.filter((one) => one.token === token && one.from === payer && one.to === recipient);
  return own.reduce((sum, { amount }) => sum + amount, 0n);
}

/** As many as are enqueued at once; what remains is for the next run. */
const MAX_AT_ONCE = 500;

/**
 * Has purchases looked at that nobody looks at any more: a job that was set aside would leave its purchase open for ever. A payment of a
 * cancelled one is waited for somewhat longer than it may be missing.
 */
export async function lookAfterPurchases(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const unpaid = await tx.rows<{ id: string }>(sql`
      select id from transactions
       where type = 'SKU_PURCHASE' and status = 'PENDING' and ${hasNoJob(CONFIRM_PAYMENT_TASK)}
      union all
      select id from transactions
       where type = 'SKU_PURCHASE' and status = 'CANCELLED' and refund_status is null
         and updated_at > now() - interval '48 hours' and ${hasNoJob(CONFIRM_PAYMENT_TASK)}
       limit ${MAX_AT_ONCE}`);
    const unordered = await tx.rows<Purchase['record']>(sql`
      select id, environment from transactions
       where type = 'SKU_PURCHASE' and status = 'PROCESSING' and ${hasNoJob(ORDER_TASK)}
       order by id limit ${MAX_AT_ONCE}`);
    await enqueueMany(tx, [
      ...unpaid.map(({ id }) => confirmPaymentJob(id)),
      ...unordered.map((record) => orderJob({ record })),
    ]);
  });
}

const hasNoJob = (task: string) => sql`
  not exists (select from jobs where task = ${task} and key = transactions.id and failed_at is null)`;

export interface FulfilmentDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly providers: Providers;
  readonly log: JobLog;
  readonly now?: (() => number) | undefined;
}

export const HOUR_MS = 3_600_000;

/** A payment that was seen once and is not there any more may come back for so long. */
export const MISSED_FOR_MS = 24 * HOUR_MS;
const FIRST_CONFIRMATION_MS = 1_000;
/** About as long as a block takes. */
const SLOWEST_CONFIRMATION_MS = 30_000;
const SLOWEST_SEARCH_MS = 300_000;

/** When to look again for a payment that was looked for so often. */
export const nextConfirmationMs = (looks: number, missing: boolean): number =>
  Math.min(FIRST_CONFIRMATION_MS * 2 ** looks, missing ? SLOWEST_SEARCH_MS : SLOWEST_CONFIRMATION_MS);
