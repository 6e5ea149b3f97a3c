import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Db, type Reads, sql } from '@svc/store';

/** The end of the chain and its settings: one row. */
export interface Head {
  readonly number: number;
  readonly hash: string;
  /** Unix seconds. */
  readonly timestamp: number;
  /** State version at the latest sealed block. */
  readonly sealedVersion: number;
  /** State version after the last transaction, sealed or not. */
  readonly version: number;
  readonly reorganisations: number;
  /** 0: instant blocks, one per transaction. */
  readonly blockSeconds: number;
  readonly timeOffsetSeconds: number;
  readonly l1AfterBlocks: number;
  readonly open: OpenBlock | undefined;
  readonly queued: number;
  /** Lets calls skip the query for faults. */
  readonly faultsActive: boolean;
}

export interface OpenBlock {
  readonly timestamp: number;
  readonly transactions: number;
  /** Unix milliseconds. */
  readonly openedAt: number;
}

interface Row {
  readonly number: number;
  readonly hash: string;
  readonly timestamp: bigint;
  readonly sealed_version: number;
  readonly version: number;
  readonly reorganisations: number;
  readonly block_seconds: number;
  readonly time_offset_seconds: bigint;
  readonly l1_after_blocks: number;
  readonly opened_at: Date | null;
  readonly open_timestamp: bigint | null;
  readonly open_transactions: number;
  readonly queued: number;
  readonly faults_active: boolean;
}

const columns = sql`
  number, hash, timestamp, sealed_version, version, reorganisations, block_seconds, time_offset_seconds, l1_after_blocks,
  opened_at, open_timestamp, open_transactions, queued, coalesce(orders_until > clock_timestamp(), false) as faults_active`;

export async function readHead(reads: Reads): Promise<Head> {
  return headOf(await reads.one<Row>(sql`select ${columns} from sandbox.chain`));
}

/** Calls that ask in the same turn of the event loop share one read, which begins after all of them. */
export function sharedHead(reads: Reads): () => Promise<Head> {
  let next: Promise<Head> | undefined;
  return () => {
    next ??= nextTurn().then(() => {
      next = undefined;
      return readHead(reads);
    });
    return next;
  };
}

export async function lockHead(tx: Db): Promise<Head> {
  return headOf(await tx.one<Row>(sql`select ${columns} from sandbox.chain for update`));
}

function headOf(row: Row | undefined): Head {
  if (!row) throw new Error('The chain has no genesis block.');
  const open = row.opened_at !== null && {
    timestamp: Number(row.open_timestamp),
    transactions: row.open_transactions,
    openedAt: row.opened_at.getTime(),
  };
  return {
    number: row.number,
    hash: row.hash,
    timestamp: Number(row.timestamp),
    sealedVersion: row.sealed_version,
    version: row.version,
    reorganisations: row.reorganisations,
    blockSeconds: row.block_seconds,
    timeOffsetSeconds: Number(row.time_offset_seconds),
    l1AfterBlocks: row.l1_after_blocks,
    open: open || undefined,
    queued: row.queued,
    faultsActive: row.faults_active,
  };
}

/** Whole bytes that always fit a felt. */
const HEX_DIGITS = 62;

/** Unique per block and history. The protocol's commitments would cost more than the transactions. */
export function blockHash(block: {
  readonly parent: string;
  readonly number: number;
  readonly timestamp: number;
  readonly version: number;
}): string {
  const text = `${block.parent}/${block.number}/${block.timestamp}/${block.version}`;
  const digits = createHash('sha256').update(text).digest('hex').slice(0, HEX_DIGITS);
  return `0x${digits.replace(/^0+(?=.)/, '')}`;
}
