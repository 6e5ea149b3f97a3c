import { ApiError, type EventType, type RefundStatus, type TxStatus, txStatuses, type UsdMicros } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { publishEvent } from '../events/events.ts';
import type { Caller } from '../http/call.ts';
import { enqueue, type NewJob } from '../jobs/job.ts';
import { queueNotification } from '../mail/mail.ts';
import type { PurchaseContent } from '../mail/templates/purchase.ts';
import type { TemplateName } from '../mail/templates/templates.ts';
import { notificationAddress } from '../organizations/organization-store.ts';
import {
  fromRow,
  type NewRecord,
  type Row,
  recordColumns,
  type TransactionRecord,
  toTransaction,
} from '../transactions/record.ts';
import { insertRecordAs, type RecordOwner, recordById } from '../transactions/record-store.ts';
import { laneOf } from '../util/ids.ts';
import { storableText } from '../util/text.ts';
import type { ProviderOrder, SkuCatalogue } from './provider.ts';

export interface Purchase {
  readonly record: TransactionRecord;
  readonly order: ProviderOrder;
  readonly payment: Payment;
  /** At the time of the purchase. */
  readonly skuName: string;
  /** First observation in a sealed block. */
  readonly paidAt: Date | undefined;
  readonly blockTime: Date | undefined;
  readonly orderedAt: Date | undefined;
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

interface Refund {
  readonly status: RefundStatus | undefined;
  readonly hash: string | undefined;
  readonly relayId: string | undefined;
  /** Transfers started by the manager. */
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

export const lockPurchase = (tx: Db, id: string): Promise<Purchase | undefined> => lock(tx, sql`id = ${id}`);

export const lockPurchaseOfRefund = (tx: Db, relayId: string): Promise<Purchase | undefined> =>
  lock(tx, sql`refund_relay_id = ${relayId}`);

/** Both rows: a row without a lock is read as it was before the wait. */
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

/** Another organisation's purchase is not found. */
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

/** Once the provider is called only its outcome ends a purchase: PROCESSING cannot be CANCELLED, and SUCCESS needs an order. */
export const purchaseTransitions: Readonly<Record<TxStatus, readonly TxStatus[]>> = {
  PENDING: ['PROCESSING', 'FAILED', 'CANCELLED'],
  PROCESSING: ['SUCCESS', 'FAILED'],
  SUCCESS: [],
  FAILED: [],
  CANCELLED: [],
};

function purchaseStatusesBefore(status: TxStatus): readonly TxStatus[] {
  return txStatuses.filter((from) => purchaseTransitions[from].includes(status));
}

export interface PurchaseChange {
  readonly status: TxStatus;
  readonly fileNumber?: string | undefined;
  readonly confirmedAt?: Date | undefined;
  readonly failureReason?: string | undefined;
  readonly refundDue?: boolean | undefined;
}

const MAX_FILE_NUMBER = 255;
const MAX_REASON = 4_000;

/** False, and nothing changes, where the transition is not allowed. */
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
  if (changed === 1 && purchaseTransitions[status].length === 0) {
    await tx.run(sql`update sku_purchases set ended_at = now() where id = ${id}`);
  }
  return changed === 1;
}

const storable = (text: string | undefined, maxLength: number): string | null =>
  text === undefined ? null : storableText(text, maxLength);

export async function markPaid(tx: Db, id: string, paid: { blockTime: Date; amount: bigint }): Promise<void> {
  const isFirst = await tx.run(sql`
    update sku_purchases set paid_at = now(), block_time = ${paid.blockTime} where id = ${id} and paid_at is null`);
  if (isFirst === 0) return;
  // More may have been paid than at the first observation; a refund returns all of it.
  await tx.run(sql`update transactions set amount = ${paid.amount} where id = ${id} and amount <> ${paid.amount}`);
}

export async function markRefundDue(tx: Db, id: string): Promise<void> {
  await tx.run(sql`
    update transactions set refund_status = 'DUE', updated_at = greatest(created_at, now())
     where id = ${id} and refund_status is null and status in ('FAILED', 'CANCELLED')`);
}

export async function markOrdered(tx: Db, id: string): Promise<void> {
  await tx.run(sql`update sku_purchases set ordered_at = now() where id = ${id} and ordered_at is null`);
}

export async function markAccepted(db: Db, id: string): Promise<void> {
  await db.run(sql`
    update sku_purchases set accepted_at = now()
     where id = ${id} and accepted_at is null and ordered_at is not null`);
}

export const ORDER_TASK = 'order-purchase';

export interface ToOrder {
  readonly purchaseId: string;
}

/** Concurrent provider calls of an environment over all processes: a slow provider must not use up the workers. */
const ORDER_LANES = 4;

export function orderJob({ record }: Pick<Purchase, 'record'>, runAt?: Date): NewJob {
  const { id, environment, organizationId } = record;
  const payload: ToOrder = { purchaseId: id };
  const queue = `orders-${environment}-${laneOf(id, ORDER_LANES)}`;
  return { task: ORDER_TASK, key: id, payload, queue, tenant: organizationId, ...(runAt && { runAt }) };
}

export async function isBeingOrdered(reads: Reads, id: string): Promise<boolean> {
  const running = await reads.rows(sql`
    select from jobs where task = ${ORDER_TASK} and key = ${id} and worker is not null limit 1`);
  return running.length > 0;
}

interface PaymentKey {
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

interface PaymentUse extends RecordOwner {
  readonly purpose: string;
  readonly reference: string;
}

/** Undefined while the payment is unused; `transaction_already_used` where it is another's. */
export async function purchaseOf(
  reads: Reads,
  owner: RecordOwner,
  { chainId, hash }: PaymentKey,
): Promise<TransactionRecord | undefined> {
  const use = await reads.one<PaymentUse>(sql`
    select organization_id as "organizationId", environment, purpose, reference
      from used_payments
     where chain_id = ${chainId} and transaction_hash = ${hash}`);
  if (!use) return undefined;
  const isOwn = use.organizationId === owner.organizationId && use.environment === owner.environment;
  const record = isOwn && use.purpose === 'purchase' ? await recordById(reads, owner, use.reference) : undefined;
  if (!record) throw new ApiError('transaction_already_used');
  return record;
}

/** Undefined where the payment was used in the meantime. Of two concurrent calls the second waits here for the first. */
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
  await enqueue(tx, confirmPaymentJob({ id, organizationId }));
  return stored;
}

interface PurchaseFilter {
  readonly status: TxStatus | undefined;
  readonly refundStatus: RefundStatus | undefined;
  readonly limit: number;
  readonly offset: number;
}

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

export interface ToConfirm {
  readonly purchaseId: string;
  readonly looks?: number;
  /** Unix milliseconds; while the chain does not show the payment. */
  readonly missingSince?: number;
}

export function confirmPaymentJob({ id, organizationId }: Pick<TransactionRecord, 'id' | 'organizationId'>): NewJob {
  const payload: ToConfirm = { purchaseId: id };
  return { task: CONFIRM_PAYMENT_TASK, key: id, payload, tenant: organizationId };
}

interface StatusNotification {
  readonly event: EventType;
  readonly mail?: TemplateName & `purchase-${string}`;
}

const notifications: Readonly<Partial<Record<TxStatus, StatusNotification>>> = {
  PROCESSING: { event: 'sku-purchase.processing' },
  SUCCESS: { event: 'sku-purchase.completed', mail: 'purchase-completed' },
  FAILED: { event: 'sku-purchase.failed', mail: 'purchase-failed' },
  CANCELLED: { event: 'sku-purchase.cancelled', mail: 'purchase-cancelled' },
};

/** Enqueues the webhook event and the mail of a purchase's status in the caller's transaction. */
export async function notifyOrganization(tx: Db, id: string): Promise<void> {
  const purchase = await findPurchase(tx, id);
  const notification = purchase && notifications[purchase.record.status];
  if (!notification) return;
  const { organizationId, environment } = purchase.record;
  const { event: type, mail: template } = notification;
  const data = toTransaction(purchase.record);
  await publishEvent(tx, { organizationId, environment, type, subject: id, data });
  if (!template) return;
  const recipient = await notificationAddress(tx, organizationId, environment);
  if (!recipient) return;
  const content = contentOf(purchase, recipient.organizationName);
  await queueNotification(tx, { organizationId, environment, recipient: recipient.address, template, content });
}

function contentOf({ record, order, skuName, refund }: Purchase, orgName: string): PurchaseContent {
  const { skuFileNumber, revertReason } = record;
  return {
    purchaseId: record.id,
    service: skuName,
    reference: order.reference,
    amount: order.amount,
    currency: order.currency,
    orgName,
    ...(skuFileNumber !== undefined && { fileNumber: skuFileNumber }),
    ...(revertReason !== undefined && { reason: revertReason }),
    refundDue: refund.status !== undefined,
  };
}
