import { type Database, type Db, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { enqueue, enqueueMany, type JobLog, type NewJob } from '../jobs/job.ts';
import { isTransferOf, type Observation, observeTransaction } from './chain-transaction.ts';
import type { TransactionRecord } from './record.ts';
import { changeRecord, type RecordChange, recordToConfirm } from './record-store.ts';

export const CONFIRM_TASK = 'confirm-transaction';

export interface ConfirmPayload {
  readonly id: string;
  readonly looks?: number;
  /** In milliseconds since 1970; while the chain does not know the transaction. */
  readonly missingSince?: number;
}

export interface ConfirmDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly log: JobLog;
  readonly now?: () => number;
}

const FIRST_RETRY_MS = 1_000;
/** About the block time of a slow chain. */
const MAX_RETRY_MS = 30_000;
/** Longer than nodes disagree, and longer than a transaction waits for a new block after a reorganisation. */
const GONE_AFTER_MS = 600_000;

const GONE = 'The chain no longer knows the transaction.';
const NOT_SHOWN = 'The transaction does not move what was recorded.';

export function confirmJob({ id, organizationId }: Pick<TransactionRecord, 'id' | 'organizationId'>): NewJob {
  const payload: ConfirmPayload = { id };
  return { task: CONFIRM_TASK, payload, key: id, tenant: organizationId };
}

/** Ends the record by what the chain shows, or retries later. An ended record is checked again after a reorganisation. */
export async function confirm(deps: ConfirmDeps, { id, looks = 0, missingSince }: ConfirmPayload): Promise<void> {
  const { db, networks, log, now = Date.now } = deps;
  const record = await recordToConfirm(db.reads, id);
  if (record?.transactionHash === undefined || record.type !== 'SEND' || record.relayId !== undefined) return;
  const { environment, chain, transactionHash } = record;
  // A chain that does not answer, or is not configured at the moment, is asked again without limit.
  const observation = await observeTransaction(networks, environment, chain, transactionHash).catch(
    (error: unknown): Observation => {
      log.warn({ id, chain, transactionHash, retries: looks, err: error }, 'transaction not readable, retrying');
      return 'waiting';
    },
  );
  const missing = observation === 'unknown' ? (missingSince ?? now()) : undefined;
  const end = missing === undefined ? endIn(record, observation) : endOfMissing(now() - missing);
  if (end) return endRecord(db, record, end);
  const delayMs = confirmDelayMs(looks);
  const payload = {
    id,
    looks: looks + 1,
    ...(missing !== undefined && { missingSince: missing }),
  } satisfies ConfirmPayload;
  await enqueue(db, { ...confirmJob(record), payload, runAt: new Date(now() + delayMs) });
}

const confirmDelayMs = (retries: number): number => Math.min(FIRST_RETRY_MS * 2 ** retries, MAX_RETRY_MS);

function endIn(record: TransactionRecord, observation: Observation): RecordChange | undefined {
  if (typeof observation === 'string' || !observation.accepted) return undefined;
  const { blockNumber, reverted, revertReason, transfers, time } = observation;
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

/** One statement of the queue; the next run takes the rest. */
const MAX_AT_ONCE = 1_000;

/** Requeues recorded transfers that are pending and have no job: theirs failed for good or was removed. */
export async function sweepUnconfirmed(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const records = await tx.rows<Pick<TransactionRecord, 'id' | 'organizationId'>>(sql`
      select id, organization_id as "organizationId" from transactions
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
