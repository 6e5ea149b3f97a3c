import { type Reads, sql } from '@svc/store';
import type { Head } from './head.ts';

export type BlockId =
  | 'latest'
  | 'pre_confirmed'
  | 'l1_accepted'
  | { readonly number: number }
  | { readonly hash: string };

export type Finality = 'PRE_CONFIRMED' | 'ACCEPTED_ON_L2' | 'ACCEPTED_ON_L1';

export interface Block {
  readonly number: number;
  /** The open block has none yet. */
  readonly hash: string | undefined;
  readonly timestamp: number;
  /** The state after its last transaction. */
  readonly version: number;
  readonly finality: Finality;
}

interface Row {
  readonly number: number;
  readonly hash: string;
  readonly timestamp: bigint;
  readonly version: number;
}

/** The block that an id means, as seen from a head. The two that are asked for most are known without the database. */
export async function findBlock(reads: Reads, head: Head, id: BlockId, now: number): Promise<Block | undefined> {
  if (id === 'pre_confirmed') return openBlock(head, now);
  const number = numberOf(head, id);
  if (number === head.number) return latestBlock(head);
  if (number !== undefined && number > head.number) return undefined;
  const which = typeof id === 'object' && 'hash' in id ? sql`hash = ${id.hash}` : sql`number = ${number}`;
  const row = await reads.one<Row>(sql`select number, hash, timestamp, version from sandbox.blocks where ${which}`);
  if (!row || row.number > head.number) return undefined;
  return { ...row, timestamp: Number(row.timestamp), finality: finalityOf(head, row.number) };
}

export function finalityOf(head: Head, number: number): Finality {
  if (number > head.number) return 'PRE_CONFIRMED';
  return number <= l1Number(head) ? 'ACCEPTED_ON_L1' : 'ACCEPTED_ON_L2';
}

/** The block that would come next: where none is being filled, an empty one of this moment. */
export function openBlock(head: Head, now: number): Block {
  return {
    number: head.number + 1,
    hash: undefined,
    timestamp: head.open?.timestamp ?? Math.floor(now / 1000) + head.timeOffsetSeconds,
    version: head.version,
    finality: 'PRE_CONFIRMED',
  };
}

/** The head as someone sees it who is this many blocks behind. */
export async function headBefore(reads: Reads, head: Head, blocks: number): Promise<Head> {
  const row = await reads.one<Row>(sql`
    select number, hash, timestamp, version from sandbox.blocks where number = ${Math.max(0, head.number - blocks)}`);
  if (!row) return head;
  const { number, hash, version } = row;
  const timestamp = Number(row.timestamp);
  return { ...head, number, hash, timestamp, version, sealedVersion: version, open: undefined, queued: 0 };
}

/** The version that a block starts from; before block 0 there is nothing. */
export async function versionBefore(reads: Reads, block: Block): Promise<number> {
  const row = await reads.one<{ version: number }>(sql`
    select version from sandbox.blocks where number = ${block.number - 1}`);
  return row?.version ?? -1;
}

function latestBlock(head: Head): Block {
  const { number, hash, timestamp, sealedVersion: version } = head;
  return { number, hash, timestamp, version, finality: finalityOf(head, number) };
}

function l1Number(head: Head): number {
  return Math.max(0, head.number - head.l1AfterBlocks);
}

function numberOf(head: Head, id: Exclude<BlockId, 'pre_confirmed'>): number | undefined {
  if (typeof id === 'object') return 'number' in id ? id.number : undefined;
  return id === 'latest' ? head.number : l1Number(head);
}
