import type { Receipt } from '../chains/starknet/chain.ts';
import { readTransfer } from '../chains/starknet/transfers.ts';
import type { TransactionRecord } from './record.ts';

/**
 * The calls that an execution has left a trace of: its contracts have at least one event for each call of theirs. Where a class
 * skips a call that fails, nothing else tells whether it ran. `taken` are the places of events that are accounted for already.
 */
export function shownCalls(
  records: readonly TransactionRecord[],
  receipt: Pick<Receipt, 'events' | 'fee'>,
  taken: ReadonlySet<number>,
): ReadonlySet<TransactionRecord> {
  const events = countOf(withoutFee(receipt).flatMap(({ from }, index) => (taken.has(index) ? [] : [from])));
  const calls = countOf(records.map(contractOf));
  // Of several calls of one contract with too few events, nobody can say which was skipped.
  return new Set(
    records.filter((record) => {
      const contract = contractOf(record);
      return (events.get(contract) ?? 0) >= (calls.get(contract) ?? 0);
    }),
  );
}

const contractOf = ({ contractAddress, destinationAddress }: TransactionRecord) =>
  BigInt(contractAddress ?? destinationAddress);

function countOf(contracts: readonly bigint[]): ReadonlyMap<bigint, number> {
  const counts = new Map<bigint, number>();
  for (const contract of contracts) counts.set(contract, (counts.get(contract) ?? 0) + 1);
  return counts;
}

/** The relayer's fee is the last transfer of a receipt, and no call's. */
function withoutFee({ events, fee }: Pick<Receipt, 'events' | 'fee'>): Receipt['events'] {
  const last = events.at(-1);
  return last && readTransfer(last)?.amount === fee ? events.slice(0, -1) : events;
}
