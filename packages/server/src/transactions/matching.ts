import type { TransactionRecord } from './record.ts';
import type { SeenTransfer } from './seen-transaction.ts';

/** Finds for each record the transfer that it tells of. Each transfer serves one record: what was paid once is not paid twice. */
export function matchTransfers(
  records: readonly TransactionRecord[],
  transfers: readonly SeenTransfer[],
): ReadonlyMap<TransactionRecord, SeenTransfer> {
  const free = new Set(transfers);
  const matched = new Map<TransactionRecord, SeenTransfer>();
  for (const record of records) {
    const transfer = [...free].find((candidate) => isTransferOf(record, candidate));
    if (!transfer) continue;
    free.delete(transfer);
    matched.set(record, transfer);
  }
  return matched;
}

/** Whether a record tells of this transfer, as far as its fields say. */
export function isTransferOf(record: TransactionRecord, transfer: Omit<SeenTransfer, 'eventIndex'>): boolean {
  return (
    record.amount === transfer.amount &&
    (record.tokenAddress === undefined ? undefined : BigInt(record.tokenAddress)) === transfer.token &&
    BigInt(record.senderAddress) === transfer.from &&
    BigInt(record.destinationAddress) === transfer.to
  );
}
