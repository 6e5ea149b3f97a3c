import { toHex, walletClass } from '@svc/starknet';
import type { Db } from '@svc/store';
import { addressOf, type FoundTransfer, type Receipt, readTransfer, transfersIn } from '../chains/starknet/chain.ts';
import type { OutcomeHandler, OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import type { CallsKind } from '../relayer/relay.ts';
import { createGatherer } from '../util/semaphore.ts';
import { creationOutcome } from '../wallets/create-wallet.ts';
import { type WalletRecord, walletsAt } from '../wallets/wallet.ts';
import { type ChainTransfer, matchTransfers } from './chain-transaction.ts';
import type { TransactionRecord } from './record.ts';
import { changeRecords, clearEventsOfRelay, type RecordChange, recordsOfOutcomes } from './record-store.ts';

const NO_TRANSFER = 'The transaction succeeded, but its receipt shows no such transfer.';
const MAYBE_SKIPPED =
  "The wallet's class skips calls that fail, and the receipt shows no event of the contract: the call may have been skipped.";
const NEVER_EXECUTED = 'The transaction was never executed.';

/** Also of calls that are followed further, after their records. */
export function transactionOutcomes(
  followers: Pick<OutcomeHandlers, 'solana-transfer'> = { 'solana-transfer': async () => {} },
): Pick<OutcomeHandlers, CallsKind> {
  const calls: OutcomeHandler = async (tx, outcome) => {
    const all = await readRecords(tx, outcome);
    await updateRecords(tx, outcome, all);
    const lacksAccount = all[0]?.lacksAccount ?? (await walletOf(tx, outcome))?.isDeployed === false;
    // Where the deployment failed, the first calls deploy the wallet, so their outcome is its outcome too.
    if (outcome.result !== 'SUCCEEDED' || lacksAccount) await creationOutcome(tx, outcome);
  };
  return {
    calls,
    'solana-transfer': async (tx, outcome) => {
      await calls(tx, outcome);
      await followers['solana-transfer'](tx, outcome);
    },
  };
}

/** Of outcomes that one transaction stores together. */
const readRecords = createGatherer(recordsOfOutcomes);
const storeChanges = createGatherer(async (tx: Db, all: readonly (readonly [string, RecordChange][])[]) => {
  await changeRecords(tx, new Map(all.flat()), { reorganised: true });
  return all.map(() => undefined);
});

async function walletOf(tx: Db, { environment, account }: RelayOutcome): Promise<WalletRecord | undefined> {
  return (await walletsAt(tx, environment, [addressOf(account)]))[0];
}

async function updateRecords(tx: Db, outcome: RelayOutcome, all: readonly TransactionRecord[]): Promise<void> {
  const records = all.filter(({ relayId }) => relayId === outcome.relayId);
  const [first] = records;
  if (!first) return;
  const others = all.filter(
    (other) => other.relayId !== first.relayId && other.organizationId === first.organizationId,
  );
  if (records.some(({ eventIndex }) => eventIndex !== undefined)) await clearEventsOfRelay(tx, outcome.relayId);
  const sends = records.filter(isTransfer);
  const matched = matchTransfers(sends, outcome.result === 'SUCCEEDED' ? transfersOf(outcome) : []);
  const skipped = outcome.result === 'SUCCEEDED' ? await maybeSkipped(tx, outcome, records, matched) : new Set();
  const taken = new Set(others.map(({ eventIndex }) => eventIndex));
  const changes = records.map((record): [string, RecordChange] => {
    const eventIndex = matched.get(record)?.eventIndex;
    const unproven = isTransfer(record)
      ? eventIndex === undefined && NO_TRANSFER
      : skipped.has(record) && MAYBE_SKIPPED;
    const change = outcome.result === 'SUCCEEDED' && !unproven ? success(outcome) : failure(outcome, unproven);
    const event = eventIndex === undefined || taken.has(eventIndex) ? {} : { eventIndex };
    return [record.id, { ...change, ...event }];
  });
  await storeChanges(tx, changes);
}

/** The receipt has a Transfer event of it. */
const isTransfer = ({ type }: TransactionRecord): boolean =>
  type === 'SEND' || type === 'SHIELD' || type === 'UNSHIELD';

/** Calls without events, of a class that skips failing calls. */
async function maybeSkipped(
  tx: Db,
  outcome: RelayOutcome,
  records: readonly TransactionRecord[],
  matched: ReadonlyMap<TransactionRecord, ChainTransfer>,
): Promise<ReadonlySet<unknown>> {
  const calls = records.filter((record) => !isTransfer(record));
  if (calls.length === 0 || !outcome.receipt) return new Set();
  const wallet = await walletOf(tx, outcome);
  if (!wallet || walletClass(wallet.classHash)?.atomicMulticall !== false) return new Set();
  const ofTransfers = new Set([...matched.values()].flatMap(({ eventIndex }) => eventIndex ?? []));
  const done = callsWithEvents(calls, outcome.receipt, ofTransfers);
  return new Set(calls.filter((call) => !done.has(call)));
}

function transfersOf({ receipt }: RelayOutcome): FoundTransfer[] {
  if (!receipt) throw new Error('A relay has succeeded without a receipt.');
  return transfersIn(receipt);
}

function success({ hash, receipt, confirmedAt }: RelayOutcome): RecordChange {
  const transactionHash = hash === undefined ? undefined : toHex(hash);
  return { status: 'SUCCESS', transactionHash, blockNumber: receipt?.blockNumber, confirmedAt };
}

function failure({ result, hash, receipt, revertReason }: RelayOutcome, unproven: string | false): RecordChange {
  const transactionHash = hash === undefined || result === 'VOIDED' ? undefined : toHex(hash);
  const reason = result === 'SUCCEEDED' && unproven ? unproven : (revertReason ?? NEVER_EXECUTED);
  return { status: 'FAILED', transactionHash, blockNumber: receipt?.blockNumber, revertReason: reason };
}

/** For classes that skip failing calls: calls whose contract emitted an event for each. `taken` events belong to other records. */
export function callsWithEvents(
  records: readonly TransactionRecord[],
  receipt: Pick<Receipt, 'events' | 'fee'>,
  taken: ReadonlySet<number>,
): ReadonlySet<TransactionRecord> {
  const events = countOf(withoutFee(receipt).flatMap(({ from }, index) => (taken.has(index) ? [] : [from])));
  const calls = countOf(records.map(contractOf));
  // With too few events it is unknown which call of a contract was skipped.
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

/** The relayer's fee is the last transfer of the receipt. */
function withoutFee({ events, fee }: Pick<Receipt, 'events' | 'fee'>): Receipt['events'] {
  const last = events.at(-1);
  return last && readTransfer(last)?.amount === fee ? events.slice(0, -1) : events;
}
