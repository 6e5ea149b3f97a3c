import { type Database, type Db, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { enqueue, enqueueMany, type NewJob } from '../jobs/job.ts';
import { isTransferOf, type Observation, observeTransaction } from './chain-transaction.ts';
import type { TransactionRecord } from './record.ts';
import { changeRecord, type RecordChange, recordToConfirm } from './record-store.ts';

export const CONFIRM_TASK = 'confirm-transaction';

/** What `confirm-transaction` works on: a record that follows no relay. */
export interface ToConfirm {
  readonly id: string;
  /** How often the chain was asked. */
  readonly looks?: number;
  /** Since when the chain has not known the transaction, as a time in milliseconds. */
  readonly missingSince?: number;
}

export interface ConfirmDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly now?: () => number;
}

const FIRST_PAUSE_MS = 1_000;
/** About as long as a block of a slow chain takes. */
const LONGEST_PAUSE_MS = 30_000;
/** Longer than nodes disagree, and longer than a transaction waits that a reorganisation took out of its block. */
const GONE_AFTER_MS = 600_000;

const GONE = 'The chain no longer knows the transaction.';
const NOT_SHOWN = 'The transaction does not move what was recorded.';

export function confirmJob({ id }: ToConfirm): NewJob {
  const payload: ToConfirm = { id };
  return { task: CONFIRM_TASK, payload, key: id };
}

/**
 * Looks at the chain, and either ends the record or comes back later. A record that has ended can be looked at again: after a
 * reorganisation the chain may tell of it differently.
 */
export async function confirm(deps: ConfirmDeps, { id, looks = 0, missingSince }: ToConfirm): Promise<void> {
  const { db, networks, now = Date.now } = deps;
  const record = await recordToConfirm(db.reads, id);
  if (record?.transactionHash === undefined || record.type !== 'SEND' || record.relayId !== undefined) return;
  const sight = await observeTransaction(networks, record.environment, record.chain, record.transactionHash).catch(
    askLater,
  );
  const missing = sight === 'unknown' ? (missingSince ?? now()) : undefined;
  const end = missing === undefined ? endIn(record, sight) : endOfMissing(now() - missing);
  if (end) return endRecord(db, record, end);
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** looks, LONGEST_PAUSE_MS);
  const payload = { id, looks: looks + 1, ...(missing !== undefined && { missingSince: missing }) } satisfies ToConfirm;
  await enqueue(db, { ...confirmJob(record), payload, runAt: new Date(now() + pauseMs) });
}

/** Undefined while there is no end to see. */
function endIn(record: TransactionRecord, sight: Observation): RecordChange | undefined {
  if (typeof sight === 'string' || !sight.accepted) return undefined;
  const { blockNumber, reverted, revertReason, transfers, time } = sight;
  if (reverted) return { status: 'FAILED', blockNumber, revertReason };
  if (transfers.some((transfer) => isTransferOf(record, transfer))) {
    return { status: 'SUCCESS', blockNumber, confirmedAt: time };
  }
  return { status: 'FAILED', blockNumber, revertReason: NOT_SHOWN };
}

function endOfMissing(sinceMs: number): RecordChange | undefined {
  return sinceMs >= GONE_AFTER_MS ? { status: 'FAILED', revertReason: GONE } : undefined;
}

async function endRecord(db: Database, record: TransactionRecord, end: RecordChange): Promise<void> {
  const { status, blockNumber, confirmedAt } = record;
  const same =
    status === end.status && blockNumber === end.blockNumber && confirmedAt?.getTime() === end.confirmedAt?.getTime();
  if (!same) await changeRecord(db, record.id, end, { reorganised: true });
}

/** A chain that gives no answer that can be read, or is not configured at the moment, is asked later, however long that takes. */
function askLater(): Observation {
  return 'waiting';
}

/** As many as are enqueued at once; what remains is for the next run. */
const MAX_AT_ONCE = 1_000;

/**
 * Has reported transfers looked at that nobody looks at any more: a job that was set aside or removed would leave its record
 * pending for ever.
 */
export async function sweepUnconfirmed(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const records = await tx.rows<{ id: string }>(sql`
      select id from transactions
       where status = 'PENDING' and type = 'SEND' and relay_id is null and transaction_hash is not null
         and not exists (
           select from jobs
            where task = ${CONFIRM_TASK} and key = transactions.id and worker is null and failed_at is null)
         and not exists (
           select from jobs where task = ${CONFIRM_TASK} and key = transactions.id and worker is not null)
       order by id limit ${MAX_AT_ONCE}`);
    await enqueueMany(tx, records.map(confirmJob));
  });
}
