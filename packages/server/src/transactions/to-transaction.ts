import type { Transaction } from '@svc/protocol';
import type { TransactionRecord } from './record.ts';

/** As callers see it. A record without a hash is shown to nobody, so it has no such form. */
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
