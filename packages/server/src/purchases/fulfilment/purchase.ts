import type { RefundStatus } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { TransactionRecord } from '../../transactions/record.ts';
import { fromRow, type Row, recordColumns } from '../../transactions/row.ts';
import type { ProviderOrder, SkuCatalogue } from '../providers/provider.ts';

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
