import { finalityOf } from '../chain/find-block.ts';
import type { StoredTransaction } from '../chain/find-transactions.ts';
import type { Head } from '../chain/head.ts';
import type { EventRow } from '../chain/rows.ts';

export function showReceipt(head: Head, tx: StoredTransaction, events: readonly EventRow[]): Record<string, unknown> {
  return {
    type: tx.transaction.type,
    transaction_hash: tx.hash,
    actual_fee: { amount: tx.actual_fee, unit: 'FRI' },
    ...showStatus(head, tx),
    ...(tx.revert_reason !== null && { revert_reason: tx.revert_reason }),
    messages_sent: [],
    events: events.map(({ from_address, keys, data }) => ({ from_address, keys, data })),
    execution_resources: { l1_gas: tx.l1_gas, l1_data_gas: tx.l1_data_gas, l2_gas: tx.l2_gas },
    ...(tx.contract_address !== null && { contract_address: tx.contract_address }),
  };
}

/** Where a receipt stands alone, it says in which block. */
export function showBlockInfo(tx: StoredTransaction): Record<string, unknown> {
  return { ...(tx.block_hash !== null && { block_hash: tx.block_hash }), block_number: tx.block_number };
}

export function showStatus(head: Head, tx: StoredTransaction) {
  return { finality_status: finalityOf(head, tx.block_number), execution_status: tx.execution_status };
}
