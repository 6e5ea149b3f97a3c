import {
  type Chain,
  type ChainToken,
  type Currency,
  type Environment,
  type RefundStatus,
  type Transaction,
  type TxStatus,
  type TxSubType,
  type TxType,
  txStatuses,
} from '@svc/protocol';
import { type Sql, sql } from '@svc/store';

export interface SkuFields {
  readonly skuId?: string | undefined;
  readonly skuReference?: string | undefined;
  readonly skuPurchaseAmount?: string | undefined;
  readonly skuPurchaseCurrency?: Currency | undefined;
}

/** Addresses and hashes are normalised. */
export interface NewRecord extends SkuFields {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly apiPublicKey: string;
  readonly type: TxType;
  readonly subType: TxSubType | undefined;
  readonly chain: Chain;
  /** Undefined until a paymaster tells it; hidden until then. */
  readonly transactionHash: string | undefined;
  /** Index of its Transfer event; undefined until seen, and where there is none. */
  readonly eventIndex: number | undefined;
  readonly relayId: string | undefined;
  readonly callIndex: number | undefined;
  readonly senderAddress: string;
  readonly destinationAddress: string;
  readonly contractAddress: string | undefined;
  readonly contractName: string | undefined;
  readonly functionName: string | undefined;
  readonly functionSelector: string | undefined;
  readonly token: ChainToken | undefined;
  readonly tokenAddress: string | undefined;
  readonly amount: bigint | undefined;
  readonly status: TxStatus;
  readonly blockNumber: number | undefined;
  readonly senderWalletId: string | undefined;
  readonly destinationWalletId: string | undefined;
  /** Order of the history. */
  readonly createdAt: Date;
  readonly confirmedAt: Date | undefined;
}

export interface TransactionRecord extends NewRecord {
  readonly id: string;
  readonly updatedAt: Date;
  readonly skuFileNumber?: string | undefined;
  readonly revertReason?: string | undefined;
  readonly refundStatus?: RefundStatus | undefined;
  readonly refundTransactionHash?: string | undefined;
}

type Machine = Readonly<Record<TxStatus, readonly TxStatus[]>>;

export const transitions: Machine = {
  PENDING: ['PROCESSING', 'SUCCESS', 'FAILED', 'CANCELLED'],
  PROCESSING: ['SUCCESS', 'FAILED', 'CANCELLED'],
  SUCCESS: [],
  FAILED: [],
  CANCELLED: [],
};

/** Additional transitions of a reorganisation. A success found in another block stays one. */
export const reorganisations: Machine = {
  PENDING: [],
  PROCESSING: [],
  SUCCESS: ['SUCCESS', 'FAILED'],
  FAILED: ['SUCCESS'],
  CANCELLED: [],
};

export function statusesBefore(status: TxStatus, { reorganised = false } = {}): readonly TxStatus[] {
  return txStatuses.filter(
    (from) => transitions[from].includes(status) || (reorganised && reorganisations[from].includes(status)),
  );
}

type Nullable<T> = { [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K] };

export interface Row extends Nullable<Omit<TransactionRecord, 'amount' | 'blockNumber'>> {
  readonly amount: string | null;
  readonly blockNumber: bigint | null;
}

export const recordColumns: Sql = sql`
  id, organization_id as "organizationId", environment, api_public_key as "apiPublicKey", type, sub_type as "subType",
  chain, transaction_hash as "transactionHash", event_index as "eventIndex", relay_id as "relayId",
  call_index as "callIndex", sender_address as "senderAddress", destination_address as "destinationAddress",
  contract_address as "contractAddress", contract_name as "contractName", function_name as "functionName",
  function_selector as "functionSelector", token, token_address as "tokenAddress", amount,
  sku_id as "skuId", sku_reference as "skuReference", trim_scale(sku_purchase_amount) as "skuPurchaseAmount",
  sku_purchase_currency as "skuPurchaseCurrency", sku_file_number as "skuFileNumber", status,
  revert_reason as "revertReason", refund_status as "refundStatus", refund_transaction_hash as "refundTransactionHash",
  block_number as "blockNumber", sender_wallet_id as "senderWalletId", destination_wallet_id as "destinationWalletId",
  created_at as "createdAt", confirmed_at as "confirmedAt", updated_at as "updatedAt"`;

export function fromRow(row: Row): TransactionRecord {
  return {
    id: row.id,
    organizationId: row.organizationId,
    environment: row.environment,
    apiPublicKey: row.apiPublicKey,
    type: row.type,
    subType: row.subType ?? undefined,
    chain: row.chain,
    transactionHash: row.transactionHash ?? undefined,
    eventIndex: row.eventIndex ?? undefined,
    relayId: row.relayId ?? undefined,
    callIndex: row.callIndex ?? undefined,
    senderAddress: row.senderAddress,
    destinationAddress: row.destinationAddress,
    contractAddress: row.contractAddress ?? undefined,
    contractName: row.contractName ?? undefined,
    functionName: row.functionName ?? undefined,
    functionSelector: row.functionSelector ?? undefined,
    token: row.token ?? undefined,
    tokenAddress: row.tokenAddress ?? undefined,
    amount: row.amount === null ? undefined : BigInt(row.amount),
    ...(row.type === 'SKU_PURCHASE' && purchaseFieldsOfRow(row)),
    status: row.status,
    revertReason: row.revertReason ?? undefined,
    blockNumber: row.blockNumber === null ? undefined : Number(row.blockNumber),
    senderWalletId: row.senderWalletId ?? undefined,
    destinationWalletId: row.destinationWalletId ?? undefined,
    createdAt: row.createdAt,
    confirmedAt: row.confirmedAt ?? undefined,
    updatedAt: row.updatedAt,
  };
}

function purchaseFieldsOfRow(row: Row): Partial<TransactionRecord> {
  return {
    skuId: row.skuId ?? undefined,
    skuReference: row.skuReference ?? undefined,
    skuPurchaseAmount: row.skuPurchaseAmount ?? undefined,
    skuPurchaseCurrency: row.skuPurchaseCurrency ?? undefined,
    skuFileNumber: row.skuFileNumber ?? undefined,
    refundStatus: row.refundStatus ?? undefined,
    refundTransactionHash: row.refundTransactionHash ?? undefined,
  };
}

export function toTransaction(record: TransactionRecord): Transaction {
  if (record.transactionHash === undefined) throw new Error(`Record ${record.id} has no hash yet.`);
  return {
    id: record.id,
    type: record.type,
    ...(record.subType !== undefined && { subType: record.subType }),
    chain: record.chain,
    transactionHash: record.transactionHash,
    senderAddress: record.senderAddress,
    destinationAddress: record.destinationAddress,
    ...(record.contractAddress !== undefined && { contractAddress: record.contractAddress }),
    ...(record.contractName !== undefined && { contractName: record.contractName }),
    ...(record.functionName !== undefined && { functionName: record.functionName }),
    ...(record.functionSelector !== undefined && { functionSelector: record.functionSelector }),
    ...(record.token !== undefined && { token: record.token }),
    ...(record.tokenAddress !== undefined && { tokenAddress: record.tokenAddress }),
    ...(record.amount !== undefined && { amount: record.amount.toString() }),
    ...(record.type === 'SKU_PURCHASE' && purchaseFields(record)),
    status: record.status,
    createdAt: record.createdAt.toISOString(),
    ...(record.confirmedAt !== undefined && { confirmedAt: record.confirmedAt.toISOString() }),
    updatedAt: record.updatedAt.toISOString(),
    apiPublicKey: record.apiPublicKey,
    ...(record.senderWalletId !== undefined && { svcWalletId: record.senderWalletId }),
    ...(record.destinationWalletId !== undefined && { destinationSvcWalletId: record.destinationWalletId }),
  };
}

function purchaseFields(record: TransactionRecord): Partial<Transaction> {
  const { skuPurchaseAmount, revertReason } = record;
  return {
    ...(record.skuId !== undefined && { skuId: record.skuId }),
    ...(record.skuReference !== undefined && { skuReference: record.skuReference }),
    ...(skuPurchaseAmount !== undefined && { skuPurchaseAmount: Number(skuPurchaseAmount) }),
    ...(record.skuPurchaseCurrency !== undefined && { skuPurchaseCurrency: record.skuPurchaseCurrency }),
    ...(record.skuFileNumber !== undefined && { skuFileNumber: record.skuFileNumber }),
    ...(revertReason !== undefined && { failureReason: revertReason }),
    ...(record.refundStatus !== undefined && { refundStatus: record.refundStatus }),
    ...(record.refundTransactionHash !== undefined && { refundTransactionHash: record.refundTransactionHash }),
  };
}
