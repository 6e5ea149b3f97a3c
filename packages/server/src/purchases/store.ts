import { ApiError, type RefundStatus, type TxStatus, type UsdMicros } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import { enqueue } from '../jobs/enqueue.ts';
import type { NewRecord, TransactionRecord } from '../transactions/record.ts';
import { insertRecordAs, type RecordOwner, recordById } from '../transactions/records.ts';
import { fromRow, type Row, recordColumns } from '../transactions/row.ts';
import { confirmPaymentJob } from './fulfilment/confirm-payment.ts';
import type { SkuCatalogue } from './providers/provider.ts';

/** A payment, by the chain and its one spelling there. */
export interface PaymentKey {
  readonly chainId: string;
  readonly hash: string;
}

export interface NewPurchase {
  readonly id: string;
  readonly record: NewRecord;
  readonly providerId: string;
  readonly catalogue: SkuCatalogue;
  readonly skuName: string;
  readonly price: UsdMicros;
}

interface Use extends RecordOwner {
  readonly purpose: string;
  readonly reference: string;
}

/** The purchase that the owner recorded with this payment; undefined while it is unused; else `transaction_already_used`. */
export async function purchaseOf(
  reads: Reads,
  owner: RecordOwner,
  { chainId, hash }: PaymentKey,
): Promise<TransactionRecord | undefined> {
  const use = await reads.one<Use>(sql`
    select organization_id as "organizationId", environment, purpose, reference
      from used_payments
     where chain_id = ${chainId} and transaction_hash = ${hash}`);
  if (!use) return undefined;
  const isOwn = use.organizationId === owner.organizationId && use.environment === owner.environment;
  const record = isOwn && use.purpose === 'purchase' ? await recordById(reads, owner, use.reference) : undefined;
  if (!record) throw new ApiError('transaction_already_used');
  return record;
}

/**
 * Stores a purchase with everything that belongs to it, or answers undefined where the payment was used in the meantime. Of two that
 * offer it at once, the second waits here for the end of the first.
 */
export async function storePurchase(
  tx: Db,
  { chainId, hash }: PaymentKey,
  { id, record, providerId, catalogue, skuName, price }: NewPurchase,
): Promise<TransactionRecord | undefined> {
  const { organizationId, environment } = record;
  const used = await tx.run(sql`
    insert into used_payments (chain_id, transaction_hash, organization_id, environment, purpose, reference)
    values (${chainId}, ${hash}, ${organizationId}, ${environment}, 'purchase', ${id})
    on conflict (chain_id, transaction_hash) do nothing`);
  if (used === 0) return undefined;
  const stored = await insertRecordAs(tx, id, record);
  await tx.run(sql`
    insert into sku_purchases (id, provider_id, catalogue, sku_name, price_micros)
    values (${id}, ${providerId}, ${catalogue}, ${skuName}, ${price})`);
  await enqueue(tx, confirmPaymentJob(id));
  return stored;
}

export interface PurchaseFilter {
  readonly status: TxStatus | undefined;
  readonly refundStatus: RefundStatus | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Newest first. */
export async function listPurchases(
  reads: Reads,
  { organizationId, environment }: RecordOwner,
  { status, refundStatus, limit, offset }: PurchaseFilter,
): Promise<{ records: TransactionRecord[]; total: number }> {
  const inStatus = status === undefined ? sql`` : sql`and status = ${status}`;
  const inRefund = refundStatus === undefined ? sql`` : sql`and refund_status = ${refundStatus}`;
  const matching = sql`
    from transactions
   where organization_id = ${organizationId} and environment = ${environment} and type = 'SKU_PURCHASE'
     ${inStatus} ${inRefund}`;
  const [rows, count] = await Promise.all([
    reads.rows<Row>(sql`select ${recordColumns} ${matching} order by id desc limit ${limit} offset ${offset}`),
    reads.one<{ total: bigint }>(sql`select count(*) as total ${matching}`),
  ]);
  return { records: rows.map(fromRow), total: Number(count?.total ?? 0n) };
}
