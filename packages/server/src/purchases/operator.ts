import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';
import { type OperatorName, operatorOf, recordChange } from '../audit-log.ts';
import type { FoundPayment } from '../relayer/payer.ts';
import type { ImportedTransaction, NamedPayment, PaymentImporter, Unmatched } from '../relayer/reconcile-accounts.ts';
import { cancelPending, endOrder } from './fulfilment.ts';
import { isFileNumber, MAX_FILE_NUMBER_LENGTH, type OrderResult } from './provider.ts';
import {
  findPurchase,
  isBeingOrdered,
  lockPurchase,
  lockPurchaseOfRefund,
  markOrdered,
  type Purchase,
} from './purchase.ts';
import { changeRefund, storeRefundRelay } from './refunds.ts';

type FinalResult = Exclude<OrderResult, { state: 'accepted' }>;

export type OperatorResult =
  | { readonly ok: true; readonly status: 'SUCCESS' | 'FAILED' | 'CANCELLED' }
  | { readonly ok: false; readonly isMissing?: true; readonly reason: string };

/** Final, like a provider's own result. */
export async function endByOperator(
  tx: Db,
  id: string,
  result: FinalResult,
  operator?: OperatorName,
): Promise<OperatorResult> {
  if (result.state === 'completed' && !isFileNumber(result.fileNumber)) {
    return { ok: false, reason: `A file number is one line of 1 to ${MAX_FILE_NUMBER_LENGTH} characters.` };
  }
  const purchase = await lockPurchase(tx, id);
  if (!purchase) return { ok: false, isMissing: true, reason: 'No purchase has this id.' };
  const { status, organizationId, environment } = purchase.record;
  if (status !== 'PROCESSING') {
    return { ok: false, reason: `This purchase is ${status}; only one that is PROCESSING can be ended by hand.` };
  }
  if (await isBeingOrdered(tx, id)) {
    return { ok: false, reason: 'The provider is being asked at this moment. Try again in a minute.' };
  }
  // Prevents a first order after this.
  await markOrdered(tx, id);
  await endOrder(tx, id, result);
  const { state, ...changes } = result;
  const change = { action: `sku-purchase.${state}`, target: id, changes };
  await recordChange(tx, operatorOf(organizationId, environment, operator), change);
  return { ok: true, status: state === 'completed' ? 'SUCCESS' : 'FAILED' };
}

export async function cancelByOperator(tx: Db, id: string, operator?: OperatorName): Promise<OperatorResult> {
  const purchase = await lockPurchase(tx, id);
  if (!purchase) return { ok: false, isMissing: true, reason: 'No purchase has this id.' };
  const { status, organizationId, environment } = purchase.record;
  if (status !== 'PENDING') {
    return { ok: false, reason: `This purchase is ${status}; only one that is PENDING can be cancelled.` };
  }
  await cancelPending(tx, id, { state: 'unanswered' });
  const change = { action: 'sku-purchase.cancelled', target: id, changes: { status: 'CANCELLED' } };
  await recordChange(tx, operatorOf(organizationId, environment, operator), change);
  return { ok: true, status: 'CANCELLED' };
}

const STUCK_AFTER = sql`interval '10 minutes'`;

export interface StuckPurchase {
  readonly id: string;
  readonly organization_id: string;
  readonly organization_name: string;
  readonly environment: Environment;
  readonly status: 'PENDING' | 'PROCESSING';
  readonly provider_id: string;
  readonly sku_id: string;
  readonly sku_reference: string;
  readonly amount: string;
  readonly currency: string;
  readonly transaction_hash: string | null;
  readonly created_at: Date;
  readonly paid_at: Date | null;
  readonly ordered_at: Date | null;
  readonly accepted_at: Date | null;
}

export function stuckPurchases(reads: Reads, limit: number): Promise<StuckPurchase[]> {
  return reads.rows(sql`
    select transactions.id, organization_id, organizations.name as organization_name, environment, status, provider_id, sku_id, sku_reference,
           trim_scale(sku_purchase_amount)::text as amount, sku_purchase_currency as currency, transaction_hash,
           transactions.created_at, paid_at, ordered_at, accepted_at
      from transactions join sku_purchases using (id) join organizations on organizations.id = organization_id
     where type = 'SKU_PURCHASE' and status in ('PENDING', 'PROCESSING')
       and coalesce(paid_at, transactions.created_at) < now() - ${STUCK_AFTER}
     order by coalesce(paid_at, transactions.created_at), transactions.id limit ${limit}`);
}

export async function countStuckPurchases(reads: Reads): Promise<number> {
  const row = await reads.one<{ count: number }>(sql`
    select count(*)::integer as count from transactions join sku_purchases using (id)
     where type = 'SKU_PURCHASE' and status in ('PENDING', 'PROCESSING')
       and coalesce(paid_at, created_at) < now() - ${STUCK_AFTER}`);
  return row?.count ?? 0;
}

/** Refunds that the chain has and the database does not know, such as after a restore. */
export const refundImporter: PaymentImporter = {
  // Not the number of a refund: where a reverted one is imported, the next refund of the purchase takes that.
  purpose: async (_, { hash }) => `refund imported ${toHex(hash)}`,
  attach: async (tx, relayId, imported) => {
    const unmatched: Unmatched[] = [];
    for (const payment of imported.payments) {
      const reason = await attachRefund(tx, relayId, imported, payment);
      if (reason !== undefined) unmatched.push({ payment, reason });
    }
    return unmatched;
  },
  release: async (tx, relayId) => {
    const purchase = await lockPurchaseOfRefund(tx, relayId);
    if (purchase?.refund.status === 'REFUNDING') await changeRefund(tx, purchase.record.id, 'DUE');
  },
};

async function attachRefund(
  tx: Db,
  relayId: string,
  { hash, executed, operator }: ImportedTransaction,
  payment: FoundPayment,
): Promise<string | undefined> {
  const id = payment.marker?.id ?? '';
  const purchase = await lockPurchase(tx, id);
  if (!purchase) return executed ? `This database has no purchase ${id}.` : undefined;
  if (!isOf(payment, purchase)) return `The payment of ${id} had another sender, token or amount.`;
  const { record, refund } = purchase;
  // A refund that reverted has moved nothing.
  if (refund.relayId === relayId || (!executed && refund.status === undefined)) return undefined;
  if (refund.status === undefined)
    return `Purchase ${id} is ${record.status} here: end it first, then run reconcile again.`;
  if (refund.status === 'REFUNDED') return `Purchase ${id} is refunded by ${refund.hash} already.`;
  if (refund.status === 'DUE') await changeRefund(tx, id, 'REFUNDING');
  await storeRefundRelay(tx, id, relayId);
  const change = { action: 'sku-purchase.reconciled', target: id, changes: { transactionHash: toHex(hash) } };
  await recordChange(tx, operatorOf(record.organizationId, record.environment, operator), change);
  return undefined;
}

const isOf = ({ token, to, amount }: FoundPayment, { payment }: Purchase): boolean =>
  token === payment.token && to === payment.payer && amount === payment.amount;

export async function namedRefund(db: Db, id: string): Promise<NamedPayment | undefined> {
  const purchase = await findPurchase(db, id);
  return purchase && { marker: { kind: 'refund', id }, fits: (payment) => isOf(payment, purchase) };
}
