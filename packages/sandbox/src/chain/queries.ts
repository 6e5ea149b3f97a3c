import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Head } from './head.ts';
import { CLASS, CLASSES, type EventRow, NONCE, type TransactionRow } from './state.ts';

export type BlockId =
  | 'latest'
  | 'pre_confirmed'
  | 'l1_accepted'
  | { readonly number: number }
  | { readonly hash: string };

export type Finality = 'PRE_CONFIRMED' | 'ACCEPTED_ON_L2' | 'ACCEPTED_ON_L1';

export interface Block {
  readonly number: number;
  readonly hash: string | undefined;
  readonly timestamp: number;
  /** State version after its last transaction. */
  readonly version: number;
  readonly finality: Finality;
}

interface Row {
  readonly number: number;
  readonly hash: string;
  readonly timestamp: bigint;
  readonly version: number;
}

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

/** The next block; where none is being filled, an empty one with the current time. */
export function openBlock(head: Head, now: number): Block {
  return {
    number: head.number + 1,
    hash: undefined,
    timestamp: head.open?.timestamp ?? Math.floor(now / 1000) + head.timeOffsetSeconds,
    version: head.version,
    finality: 'PRE_CONFIRMED',
  };
}

export async function headBefore(reads: Reads, head: Head, blocks: number): Promise<Head> {
  const row = await reads.one<Row>(sql`
    select number, hash, timestamp, version from sandbox.blocks where number = ${Math.max(0, head.number - blocks)}`);
  if (!row) return head;
  const { number, hash, version } = row;
  const timestamp = Number(row.timestamp);
  return { ...head, number, hash, timestamp, version, sealedVersion: version, open: undefined, queued: 0 };
}

/** The version that a block starts from; -1 before block 0. */
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

export type StoredTransaction = TransactionRow & { readonly block_hash: string | null };

type FoundRow = Omit<StoredTransaction, 'l1_gas' | 'l1_data_gas' | 'l2_gas'> & {
  readonly l1_gas: bigint;
  readonly l1_data_gas: bigint;
  readonly l2_gas: bigint;
};

export async function findTransaction(reads: Reads, head: Head, hash: string): Promise<StoredTransaction | undefined> {
  return (await find(reads, head, sql`t.hash = ${hash}`))[0];
}

export async function transactionAt(
  reads: Reads,
  head: Head,
  block: number,
  index: number,
): Promise<StoredTransaction | undefined> {
  return (await find(reads, head, sql`t.block_number = ${block} and t.index = ${index}`))[0];
}

export function transactionsOf(reads: Reads, head: Head, block: number): Promise<StoredTransaction[]> {
  return find(reads, head, sql`t.block_number = ${block}`);
}

export function eventsOf(reads: Reads, versions: readonly number[]): Promise<EventRow[]> {
  return reads.rows<EventRow>(sql`
    select version, index, from_address, keys, data from sandbox.events
     where version = any(${versions}) order by version, index`);
}

async function find(reads: Reads, head: Head, which: Sql): Promise<StoredTransaction[]> {
  const rows = await reads.rows<FoundRow>(sql`
    select t.version, t.hash, t.block_number, t.index, t.transaction, t.execution_status, t.revert_reason, t.actual_fee,
           t.l1_gas, t.l1_data_gas, t.l2_gas, t.contract_address, b.hash as block_hash
      from sandbox.transactions t left join sandbox.blocks b on b.number = t.block_number
     where ${which} and t.version <= ${head.version} order by t.version`);
  return rows.map((row) => ({
    ...row,
    l1_gas: Number(row.l1_gas),
    l1_data_gas: Number(row.l1_data_gas),
    l2_gas: Number(row.l2_gas),
  }));
}

export interface EventFilter {
  /** Above the first version, up to the last one. */
  readonly versions: { readonly above: number; readonly upTo: number };
  readonly addresses: readonly string[];
  /** Accepted keys by position; an empty list accepts any. */
  readonly keys: readonly (readonly string[])[];
  readonly after: { readonly version: number; readonly index: number } | undefined;
  readonly limit: number;
}

export interface FoundEvent extends EventRow {
  readonly transaction_hash: string;
  readonly transaction_index: number;
  readonly block_number: number;
  readonly block_hash: string | null;
}

export function findEvents(db: Db, filter: EventFilter): Promise<FoundEvent[]> {
  const { above, upTo } = filter.versions;
  let where = sql`e.version > ${above} and e.version <= ${upTo}`;
  if (filter.addresses.length > 0) where = sql`${where} and e.from_address = any(${filter.addresses})`;
  for (const [position, keys] of filter.keys.entries()) {
    if (keys.length > 0) where = sql`${where} and ${keyAt(position)} = any(${keys})`;
  }
  if (filter.after) where = sql`${where} and (e.version, e.index) > (${filter.after.version}, ${filter.after.index})`;
  return db.rows<FoundEvent>(sql`
    select e.version, e.index, e.from_address, e.keys, e.data,
           t.hash as transaction_hash, t.index as transaction_index, t.block_number, b.hash as block_hash
      from sandbox.events e
      join sandbox.transactions t on t.version = e.version
      left join sandbox.blocks b on b.number = t.block_number
     where ${where} order by e.version, e.index limit ${filter.limit}`);
}

/** Indexed positions are literals, so that the planner uses the index. */
function keyAt(position: number): Sql {
  if (position === 1) return sql`e.keys[2]`;
  if (position === 2) return sql`e.keys[3]`;
  return sql`e.keys[${position + 1}::integer]`;
}

export interface ShownStateDiff {
  readonly storage_diffs: { address: string; storage_entries: { key: string; value: string }[] }[];
  readonly deprecated_declared_classes: string[];
  readonly declared_classes: { class_hash: string; compiled_class_hash: string }[];
  readonly deployed_contracts: { address: string; class_hash: string }[];
  readonly replaced_classes: { contract_address: string; class_hash: string }[];
  readonly nonces: { contract_address: string; nonce: string }[];
}

export interface Change {
  readonly contract: string;
  readonly slot: string;
  readonly value: string;
  readonly existed: boolean;
}

export async function changesBetween(db: Db, above: number, upTo: number): Promise<Change[]> {
  return db.rows<Change>(sql`
    select distinct on (s.contract, s.slot) s.contract, s.slot, s.value,
           s.slot = ${CLASS} and exists (
             select from sandbox.state before
              where before.contract = s.contract and before.slot = ${CLASS} and before.version <= ${above}) as existed
      from sandbox.state s where s.version > ${above} and s.version <= ${upTo}
     order by s.contract, s.slot, s.version desc`);
}

export function showStateDiff(changes: readonly Change[]): ShownStateDiff {
  const diff: ShownStateDiff = {
    storage_diffs: [],
    deprecated_declared_classes: [],
    declared_classes: [],
    deployed_contracts: [],
    replaced_classes: [],
    nonces: [],
  };
  const storage = new Map<string, { key: string; value: string }[]>();
  for (const { contract, slot, value, existed } of changes) {
    if (contract === CLASSES) diff.declared_classes.push({ class_hash: slot, compiled_class_hash: value });
    else if (slot === NONCE) diff.nonces.push({ contract_address: contract, nonce: value });
    else if (slot === CLASS && existed) diff.replaced_classes.push({ contract_address: contract, class_hash: value });
    else if (slot === CLASS) diff.deployed_contracts.push({ address: contract, class_hash: value });
    else {
      const entries = storage.get(contract) ?? [];
      entries.push({ key: slot, value });
      storage.set(contract, entries);
    }
  }
  for (const [address, storage_entries] of storage) diff.storage_diffs.push({ address, storage_entries });
  return diff;
}

export interface BlockDetails {
  readonly parentHash: string;
  readonly transactions: number;
  readonly events: number;
  readonly changes: number;
}

export interface BlockContent {
  readonly details: BlockDetails;
  readonly hashes: readonly string[];
}

interface ContentRow {
  readonly parent_hash: string | null;
  readonly hashes: readonly string[];
  readonly events: bigint;
  readonly changes: bigint;
}

export async function readContent(reads: Reads, head: Head, { number, version }: Block): Promise<BlockContent> {
  const row = await reads.one<ContentRow>(sql`
    select (select parent_hash from sandbox.blocks where number = ${number}) as parent_hash,
           array(select hash from sandbox.transactions
                  where block_number = ${number} and version <= ${head.version} order by version) as hashes,
           (select count(*) from sandbox.events where version > above and version <= ${version}) as events,
           (select count(distinct (contract, slot)) from sandbox.state where version > above and version <= ${version})
             as changes
      from coalesce((select version from sandbox.blocks where number = ${number - 1}), -1) as above`);
  const { parent_hash: parentHash, hashes = [], events = 0n, changes = 0n } = row ?? {};
  const counts = { transactions: hashes.length, events: Number(events), changes: Number(changes) };
  return { details: { parentHash: parentHash ?? '0x0', ...counts }, hashes };
}
