import { toHex } from '@svc/starknet';
import { type Reads, sql } from '@svc/store';
import type { Executed, StateDiff, StateReader, Transaction } from '../execution/types.ts';
import type { Head } from './head.ts';
import { type ShownTransaction, showTransaction } from './transaction.ts';

export function stateAt(reads: Reads, cache: StateCache, version: number): StateReader {
  let wanted: Wanted[] = [];
  const load = async () => {
    const cells = wanted;
    wanted = [];
    try {
      const values = await loadCells(reads, version, cells);
      for (const [place, { contract, slot, resolve }] of cells.entries()) {
        const value = values[place] ?? 0n;
        cache.set(version, contract, slot, value);
        resolve(value);
      }
    } catch (error) {
      for (const { reject } of cells) reject(error);
    }
  };
  const read = async (contract: string, slot: string): Promise<bigint> => {
    const known = cache.get(version, contract, slot);
    if (known !== undefined) return known;
    const { promise, resolve, reject } = Promise.withResolvers<bigint>();
    if (wanted.length === 0) queueMicrotask(() => void load());
    wanted.push({ contract, slot, resolve, reject });
    return promise;
  };
  return {
    storageAt: (address, key) => read(toHex(address), toHex(key)),
    classHashAt: (address) => read(toHex(address), CLASS),
    nonceAt: (address) => read(toHex(address), NONCE),
    isDeclared: async (classHash) => (await read(CLASSES, toHex(classHash))) !== 0n,
  };
}

interface Wanted {
  readonly contract: string;
  readonly slot: string;
  resolve(value: bigint): void;
  reject(error: unknown): void;
}

/** What is asked for at the same moment is one statement. Undefined where a cell was never written. */
async function loadCells(reads: Reads, version: number, cells: readonly Wanted[]): Promise<(bigint | undefined)[]> {
  const rows = await reads.rows<{ value: string | null }>(sql`
    select newest.value
      from unnest(${cells.map(({ contract }) => contract)}::text[], ${cells.map(({ slot }) => slot)}::text[])
        with ordinality as wanted (contract, slot, place)
      left join lateral (
        select value from sandbox.state
         where contract = wanted.contract and slot = wanted.slot and version <= ${version}
         order by version desc limit 1) as newest on true
     order by wanted.place`);
  return rows.map(({ value }) => (value === null ? undefined : BigInt(value)));
}

/** About 30 MB; the rest is read from the database. */
const MAX_ENTRIES = 100_000;
/** Beyond this, reading the changes costs more than an empty cache. */
const MAX_VERSIONS_BEHIND = 1_000;

/** A value that no version after `since` has changed. */
interface Cell {
  readonly value: bigint;
  readonly since: number;
}

/** Values of one version of the state, and of those before it that had the same: a reader never mixes two versions. */
export class StateCache {
  readonly #values = new Map<string, Cell>();
  readonly #maxEntries: number;
  #version = -1;
  /** Every change after it is among the values, so that what is not there has not changed. */
  #completeSince = -1;
  #reorganisations = -1;

  constructor(maxEntries = MAX_ENTRIES) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#values.size;
  }

  get(version: number, contract: string, slot: string): bigint | undefined {
    if (version > this.#version) return undefined;
    const cell = this.#values.get(`${contract} ${slot}`);
    return cell && cell.since <= version ? cell.value : undefined;
  }

  /** What was read of a version, also where the chain has gone on meanwhile. */
  set(version: number, contract: string, slot: string, value: bigint): void {
    const key = `${contract} ${slot}`;
    if (version > this.#version || version < this.#completeSince || this.#values.has(key)) return;
    this.#set(key, { value, since: version });
  }

  /** After a write of this process: `rows` are all changes between the cached version and the head's. */
  advance(from: number, head: Head, rows: readonly StateRow[]): void {
    const same = head.reorganisations === this.#reorganisations;
    if (same && head.version <= this.#version) return;
    if (!same || from !== this.#version) {
      this.#restart(head);
      return;
    }
    this.#version = head.version;
    for (const { contract, slot, value, version: since } of rows) {
      this.#set(`${contract} ${slot}`, { value: BigInt(value), since });
    }
  }

  async sync(reads: Reads, head: Head): Promise<void> {
    const from = this.#version;
    const behind = head.version - from;
    const same = head.reorganisations === this.#reorganisations;
    if (same && behind <= 0) return;
    if (!same || behind > MAX_VERSIONS_BEHIND) {
      this.#restart(head);
      return;
    }
    const rows = await reads.rows<StateRow>(sql`
      select contract, slot, version, value from sandbox.state
       where version > ${from} and version <= ${head.version} order by version`);
    // Another call may have synced meanwhile.
    if (this.#version === from) this.advance(from, head, rows);
  }

  #restart(head: Head): void {
    // A reader from before the latest reorg must not move the cache back.
    if (head.version < this.#version) return;
    this.#values.clear();
    this.#version = head.version;
    this.#completeSince = head.version;
    this.#reorganisations = head.reorganisations;
  }

  #set(key: string, cell: Cell): void {
    if (this.#values.size >= this.#maxEntries && !this.#values.has(key)) {
      for (const [oldest, { since }] of this.#values) {
        this.#values.delete(oldest);
        this.#completeSince = Math.max(this.#completeSince, since);
        break;
      }
    }
    this.#values.set(key, cell);
  }
}

export class Overlay implements StateReader {
  readonly #base: StateReader;
  readonly #storage = new Map<bigint, Map<bigint, bigint>>();
  readonly #classHashes = new Map<bigint, bigint>();
  readonly #nonces = new Map<bigint, bigint>();
  readonly #declared = new Set<bigint>();

  constructor(base: StateReader) {
    this.#base = base;
  }

  apply(diff: StateDiff): void {
    for (const [address, cells] of diff.storage) {
      const own = this.#storage.get(address) ?? new Map<bigint, bigint>();
      for (const [key, value] of cells) own.set(key, value);
      this.#storage.set(address, own);
    }
    for (const [address, classHash] of diff.classHashes) this.#classHashes.set(address, classHash);
    for (const [address, nonce] of diff.nonces) this.#nonces.set(address, nonce);
    for (const classHash of diff.declared) this.#declared.add(classHash);
  }

  async storageAt(address: bigint, key: bigint): Promise<bigint> {
    return this.#storage.get(address)?.get(key) ?? this.#base.storageAt(address, key);
  }

  async classHashAt(address: bigint): Promise<bigint> {
    return this.#classHashes.get(address) ?? this.#base.classHashAt(address);
  }

  async nonceAt(address: bigint): Promise<bigint> {
    return this.#nonces.get(address) ?? this.#base.nonceAt(address);
  }

  async isDeclared(classHash: bigint): Promise<boolean> {
    return this.#declared.has(classHash) || this.#base.isDeclared(classHash);
  }
}

/** Slots of a contract beside its storage, and the pseudo-contract of declared classes. */
export const NONCE = 'nonce';
export const CLASS = 'class';
export const CLASSES = 'classes';

export interface StateRow {
  readonly contract: string;
  readonly slot: string;
  readonly version: number;
  readonly value: string;
}

export interface BlockRow {
  readonly number: number;
  readonly hash: string;
  readonly parent_hash: string;
  readonly timestamp: number;
  readonly version: number;
}

export interface TransactionRow {
  readonly version: number;
  readonly hash: string;
  readonly block_number: number;
  readonly index: number;
  readonly transaction: ShownTransaction;
  readonly execution_status: 'SUCCEEDED' | 'REVERTED';
  readonly revert_reason: string | null;
  readonly actual_fee: string;
  readonly l1_gas: number;
  readonly l1_data_gas: number;
  readonly l2_gas: number;
  readonly contract_address: string | null;
}

export interface EventRow {
  readonly version: number;
  readonly index: number;
  readonly from_address: string;
  readonly keys: readonly string[];
  readonly data: readonly string[];
}

export interface Position {
  readonly version: number;
  readonly block: number;
  readonly index: number;
}

export function transactionRow(position: Position, tx: Transaction, executed: Executed): TransactionRow {
  return {
    version: position.version,
    hash: toHex(tx.hash),
    block_number: position.block,
    index: position.index,
    transaction: showTransaction(tx),
    execution_status: executed.status,
    // PostgreSQL text cannot hold NUL.
    revert_reason: executed.revertReason?.replaceAll('\0', '') ?? null,
    actual_fee: toHex(executed.fee),
    l1_gas: Number(executed.gas.l1Gas),
    l1_data_gas: Number(executed.gas.l1DataGas),
    l2_gas: Number(executed.gas.l2Gas),
    contract_address: executed.contractAddress === undefined ? null : toHex(executed.contractAddress),
  };
}

export function eventRows(version: number, { events }: Executed): EventRow[] {
  return events.map((event, index) => ({
    version,
    index,
    from_address: toHex(event.from),
    keys: event.keys.map(toHex),
    data: event.data.map(toHex),
  }));
}

export function stateRows(version: number, diff: StateDiff, compiledHash: (classHash: bigint) => bigint): StateRow[] {
  const row = (contract: string, slot: string, value: bigint) => ({ contract, slot, version, value: toHex(value) });
  const rows: StateRow[] = [];
  for (const [address, cells] of diff.storage) {
    for (const [key, value] of cells) rows.push(row(toHex(address), toHex(key), value));
  }
  for (const [address, nonce] of diff.nonces) rows.push(row(toHex(address), NONCE, nonce));
  for (const [address, classHash] of diff.classHashes) rows.push(row(toHex(address), CLASS, classHash));
  for (const classHash of diff.declared) rows.push(row(CLASSES, toHex(classHash), compiledHash(classHash)));
  return rows;
}
