import { ApiError, type RefundStatus, type TxStatus, txStatuses, type UsdMicros } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Caller } from '../http/call.ts';
import { enqueue, type NewJob } from '../jobs/job.ts';
import { fromRow, type NewRecord, type Row, recordColumns, type TransactionRecord } from '../transactions/record.ts';
import { insertRecordAs, type RecordOwner, recordById } from '../transactions/record-store.ts';
import type { ProviderOrder, SkuCatalogue } from './provider.ts';

/** A purchase, as far as delivering it and giving its payment back need to know. */
export interface Purchase {
  readonly record: TransactionRecord;
  /** What the provider is asked for. */
  readonly order: ProviderOrder;
  /** What was paid, and where. */
  readonly payment: Payment;
  /** The name of the service when it was bought. */
  readonly skuName: string;
  /** When the payment was first seen in a sealed block, and that block's time. */
  readonly paidAt: Date | undefined;
  readonly blockTime: Date | undefined;
  /** When the provider was first called. */
  readonly orderedAt: Date | undefined;
  /** When it said that the result comes later. */
  readonly acceptedAt: Date | undefined;
  readonly refund: Refund;
}

export interface Payment {
  readonly hash: string;
  readonly token: bigint;
  readonly payer: bigint;
  readonly recipient: bigint;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

export interface Refund {
  /** Undefined while nothing is due. */
  readonly status: RefundStatus | undefined;
  readonly hash: string | undefined;
  /** The last transaction of ours that was to give it back. */
  readonly relayId: string | undefined;
  /** How many there were. */
  readonly begun: number;
}

interface PurchaseRow extends Row {
  readonly providerId: string;
  readonly catalogue: SkuCatalogue;
  readonly skuName: string;
  readonly paidAt: Date | null;
  readonly blockTime: Date | null;
  readonly orderedAt: Date | null;
  readonly acceptedAt: Date | null;
  readonly refundRelayId: string | null;
  readonly refundsBegun: number;
}

const columns: Sql = sql`
  ${recordColumns}, provider_id as "providerId", catalogue, sku_name as "skuName", paid_at as "paidAt",
  block_time as "blockTime", ordered_at as "orderedAt", accepted_at as "acceptedAt", refund_relay_id as "refundRelayId",
  refunds_begun as "refundsBegun"`;

export const findPurchase = (reads: Reads, id: string): Promise<Purchase | undefined> => find(reads, sql`id = ${id}`);

/** Nobody else changes it before this transaction ends. */
export const lockPurchase = (tx: Db, id: string): Promise<Purchase | undefined> => lock(tx, sql`id = ${id}`);

export const lockPurchaseOfRefund = (tx: Db, relayId: string): Promise<Purchase | undefined> =>
  lock(tx, sql`refund_relay_id = ${relayId}`);

/** Both rows: what is not locked is read as it was before the wait for the lock. */
const lock = (tx: Db, which: Sql): Promise<Purchase | undefined> =>
  find(tx, sql`${which} for update of transactions, sku_purchases`);

async function find(reads: Reads, which: Sql): Promise<Purchase | undefined> {
  const row = await reads.one<PurchaseRow>(sql`
    select ${columns} from transactions join sku_purchases using (id) where type = 'SKU_PURCHASE' and ${which}`);
  return row && toPurchase(row);
}

function toPurchase(row: PurchaseRow): Purchase {
  const record = fromRow(row);
  return {
    record,
    order: orderOf(record, row),
    payment: paymentOf(record),
    skuName: row.skuName,
    paidAt: row.paidAt ?? undefined,
    blockTime: row.blockTime ?? undefined,
    orderedAt: row.orderedAt ?? undefined,
    acceptedAt: row.acceptedAt ?? undefined,
    refund: {
      status: record.refundStatus,
      hash: record.refundTransactionHash,
      relayId: row.refundRelayId ?? undefined,
      begun: row.refundsBegun,
    },
  };
}

function orderOf(record: TransactionRecord, { catalogue, providerId }: PurchaseRow): ProviderOrder {
  const { id, organizationId, environment } = record;
  const { skuId, skuReference: reference, skuPurchaseAmount: amount, skuPurchaseCurrency: currency } = record;
  if (skuId === undefined || reference === undefined || amount === undefined || currency === undefined) {
    throw new Error(`Purchase ${id} does not say what was bought.`);
  }
  return { orderId: id, organizationId, environment, catalogue, providerId, skuId, reference, amount, currency };
}

function paymentOf(record: TransactionRecord): Payment {
  const { id, transactionHash: hash, tokenAddress, amount, senderAddress, destinationAddress } = record;
  if (hash === undefined || tokenAddress === undefined || amount === undefined) {
    throw new Error(`Purchase ${id} does not say how it was paid.`);
  }
  return {
    hash,
    token: BigInt(tokenAddress),
    payer: BigInt(senderAddress),
    recipient: BigInt(destinationAddress),
    amount,
  };
}

/** Another organisation's is as if it were not there. */
export async function ownPurchase(
  db: Db,
  { organizationId, environment }: Pick<Caller, 'organizationId' | 'environment'>,
  id: string,
): Promise<Purchase> {
  const purchase = await findPurchase(db, id);
  const isOwn = purchase?.record.organizationId === organizationId && purchase.record.environment === environment;
  if (!isOwn) throw new ApiError('purchase_not_found');
  return purchase;
}

/**
 * Which status of a purchase may follow which. Once its provider is called nothing but the outcome ends it, so there is no way from
 * PROCESSING to CANCELLED, which transactions have; and nothing succeeds that was not ordered.
 */
export const purchaseTransitions: Readonly<Record<TxStatus, readonly TxStatus[]>> = {
  PENDING: ['PROCESSING', 'FAILED', 'CANCELLED'],
  PROCESSING: ['SUCCESS', 'FAILED'],
  SUCCESS: [],
  FAILED: [],
  CANCELLED: [],
};

/** The statuses from which a purchase can reach this one. */
export function purchaseStatusesBefore(status: TxStatus): readonly TxStatus[] {
  return txStatuses.filter((from) => purchaseTransitions[from].includes(status));
}

/** What is left out stays as it is. */
export interface PurchaseChange {
  readonly status: TxStatus;
  /** Of the provider, with SUCCESS. */
  readonly fileNumber?: string | undefined;
  /** The payment's, with SUCCESS. */
  readonly confirmedAt?: Date | undefined;
  /** With FAILED. */
  readonly failureReason?: string | undefined;
  /** Whether the payment is to be given back. */
  readonly refundDue?: boolean | undefined;
}

/** As the columns bound them. */
const MAX_FILE_NUMBER = 255;
const MAX_REASON = 4_000;

/** False, and nothing is changed, where the purchase's status does not lead to the new one. */
export async function changePurchase(tx: Db, id: string, change: PurchaseChange): Promise<boolean> {
  const { status, fileNumber, confirmedAt, failureReason, refundDue = false } = change;
  const changed = await tx.run(sql`
    update transactions
       set status = ${status},
           sku_file_number = coalesce(${storable(fileNumber, MAX_FILE_NUMBER)}, sku_file_number),
           confirmed_at = coalesce(${confirmedAt ?? null}, confirmed_at),
           revert_reason = coalesce(${storable(failureReason, MAX_REASON)}, revert_reason),
           refund_status = coalesce(refund_status, ${refundDue ? 'DUE' : null}),
           updated_at = greatest(created_at, now())
     where id = ${id} and type = 'SKU_PURCHASE' and status = any(${purchaseStatusesBefore(status)}::text[])`);
  return changed === 1;
}

/** Others choose these words. The database has no place for the character 0. */
function storable(text: string | undefined, maxLength: number): string | null {
  return text === undefined ? null : text.replaceAll('\0', '').toWellFormed().slice(0, maxLength).toWellFormed();
}

/** The payment stands in a sealed block, and this is what it moved. */
export async function markPaid(tx: Db, id: string, paid: { blockTime: Date; amount: bigint }): Promise<void> {
  const isFirst = await tx.run(sql`
    update sku_purchases set paid_at = now(), block_time = ${paid.blockTime} where id = ${id} and paid_at is null`);
  if (isFirst === 0) return;
  // More may have arrived than at the first look, and all of it is given back should nothing be delivered.
  await tx.run(sql`update transactions set amount = ${paid.amount} where id = ${id} and amount <> ${paid.amount}`);
}

/** What was paid for a purchase that has ended already is due to its payer. */
export async function markRefundDue(tx: Db, id: string): Promise<void> {
  await tx.run(sql`
    update transactions set refund_status = 'DUE', updated_at = greatest(created_at, now())
     where id = ${id} and refund_status is null and status in ('FAILED', 'CANCELLED')`);
}

/** From now on only an outcome ends it. */
export async function markOrdered(tx: Db, id: string): Promise<void> {
  await tx.run(sql`update sku_purchases set ordered_at = now() where id = ${id} and ordered_at is null`);
}

/** The provider has it, and tells the result later. */
export async function markAccepted(db: Db, id: string): Promise<void> {
  await db.run(sql`
    update sku_purchases set accepted_at = now()
     where id = ${id} and accepted_at is null and ordered_at is not null`);
}

export const ORDER_TASK = 'order-purchase';

/** What `order-purchase` works on. */
export interface ToOrder {
  readonly purchaseId: string;
}

/** How many of an environment are asked for at the same time by all processes together: a slow provider must not hold up jobs that move money. */
export const ORDER_LANES = 4;

/** Has the provider called, or asked what became of an order. A purchase has one lane, so there are never two of it at the same time. */
export function orderJob({ record: { id, environment } }: Pick<Purchase, 'record'>, runAt?: Date): NewJob {
  const payload: ToOrder = { purchaseId: id };
  const queue = `orders-${environment}-${laneOf(id)}`;
  return { task: ORDER_TASK, key: id, payload, queue, ...(runAt && { runAt }) };
}

/** Whether a worker is at it, so that the provider may be hearing of it at this moment. */
export async function isBeingOrdered(reads: Reads, id: string): Promise<boolean> {
  const running = await reads.rows(sql`
    select from jobs where task = ${ORDER_TASK} and key = ${id} and worker is not null limit 1`);
  return running.length > 0;
}

/** The end of an id is random. */
const laneOf = (id: string) => id.charCodeAt(id.length - 1) % ORDER_LANES;

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

export const CONFIRM_PAYMENT_TASK = 'confirm-purchase-payment';

/** What `confirm-purchase-payment` works on. */
export interface ToConfirm {
  readonly purchaseId: string;
  /** How often the chain was asked. */
  readonly looks?: number;
  /** Since when the chain has not shown the payment, as a time in milliseconds. */
  readonly missingSince?: number;
}

/** Looks whether the payment of a purchase stands in a sealed block, and then has its provider called. */
export function confirmPaymentJob(purchaseId: string): NewJob {
  return { task: CONFIRM_PAYMENT_TASK, key: purchaseId, payload: { purchaseId } satisfies ToConfirm };
}
