import { type Sql, sql } from '@svc/store';
import type { TransactionRecord } from './record.ts';

type Nullable<T> = { [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K] };

/** A record as the database answers it. */
export interface Row extends Nullable<Omit<TransactionRecord, 'amount' | 'blockNumber'>> {
  readonly amount: string | null;
  readonly blockNumber: bigint | null;
}

/** What a query answers to be read as a `Row`. */
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
    ...(row.type === 'SKU_PURCHASE' && purchaseFields(row)),
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

function purchaseFields(row: Row): Partial<TransactionRecord> {
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
