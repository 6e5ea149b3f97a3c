import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, sql } from '@svc/store';
import { genesis } from '../contracts/genesis.ts';
import { Draft, save } from './draft.ts';
import { blockHash, type Head, lockHead, readHead } from './head.ts';
import type { RecentBlocks } from './recent-blocks.ts';
import { type StateCache, stateRows } from './state.ts';

/** Group commit: jobs that arrive together share a database transaction. */
const MAX_BATCH_MS = 25;
const MAX_BATCH = 64;
/** Beyond this a client would wait for many seconds. */
const MAX_WAITING = 2_000;

interface WriteJob {
  /** The outcome is held back until the draft is stored. */
  run(draft: Draft): Promise<void>;
  stored(): void;
  failed(error: unknown): void;
}

export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** What this process knows of the chain without the database. */
interface Memory {
  readonly cache: StateCache;
  readonly blocks: RecentBlocks;
}

/** The only way to change the chain: jobs run on the draft under the lock on the head and are answered after the commit. */
export class Writer {
  readonly #db: Database;
  readonly #memory: Memory;
  readonly #now: () => number;
  readonly #waiting: WriteJob[] = [];
  #running: Promise<void> | undefined;

  constructor(db: Database, memory: Memory, now: () => number) {
    this.#db = db;
    this.#memory = memory;
    this.#now = now;
  }

  write<T>(work: (draft: Draft) => Promise<T>): Promise<T> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(new BusyError('Too many transactions are waiting.'));
    return new Promise((resolve, reject) => {
      let answer = () => {};
      this.#waiting.push({
        run: (draft) =>
          work(draft).then(
            (value) => {
              answer = () => resolve(value);
            },
            (error: unknown) => {
              answer = () => reject(error);
            },
          ),
        stored: () => answer(),
        failed: reject,
      });
      this.#running ??= this.#drain().finally(() => {
        this.#running = undefined;
      });
    });
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch: WriteJob[] = [];
      try {
        await this.#store(batch);
        for (const job of batch) job.stored();
      } catch (error) {
        // Without the lock no job was taken from the queue: fail the first one.
        if (batch.length === 0) batch.push(...this.#waiting.splice(0, 1));
        for (const job of batch) job.failed(error);
      }
    }
  }

  async #store(batch: WriteJob[]): Promise<void> {
    const { cache, blocks } = this.#memory;
    const { before, draft } = await this.#db.tx(async (tx) => {
      const head = await lockHead(tx);
      await cache.sync(tx, head);
      const next = new Draft(tx, head, cache, this.#now);
      const until = this.#now() + MAX_BATCH_MS;
      do {
        const job = this.#waiting.shift();
        if (!job) break;
        batch.push(job);
        await job.run(next);
      } while (batch.length < MAX_BATCH && this.#now() < until);
      if (next.head !== head) await save(tx, next);
      return { before: head, draft: next };
    });
    cache.advance(before.version, draft.head, draft.state);
    blocks.add(before, draft);
  }
}

const POLL_MS = 1_000;
/** How soon a process notices a block time set by another, which seals its blocks while it lives. */
const IDLE_POLL_MS = 5_000;
/** A block may be late by this much. */
const PRECISION_MS = 50;

/** Seals blocks at their interval; any process may do it. */
export class BlockTimer {
  readonly #stopped = new AbortController();
  #wake = new AbortController();
  readonly #done: Promise<void>;

  constructor(db: Database, writer: Writer, now: () => number) {
    this.#done = this.#run(db, writer, now);
  }

  wake(): void {
    this.#wake.abort();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }

  async #run(db: Database, writer: Writer, now: () => number): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      this.#wake = new AbortController();
      // A failure, such as a lost database connection, is retried at the next poll.
      const wait = await this.#sealIfDue(db, writer, now).catch(() => POLL_MS);
      const signal = AbortSignal.any([this.#stopped.signal, this.#wake.signal]);
      await pause(wait, undefined, { signal }).catch(() => {});
    }
  }

  async #sealIfDue(db: Database, writer: Writer, now: () => number): Promise<number> {
    const head = await readHead(db);
    if (!head.open) return IDLE_POLL_MS;
    if (isDue(head, now())) await writer.write(async (draft) => sealWhenDue(draft, now()));
    const left = head.open.openedAt + head.blockSeconds * 1000 - now();
    return Math.min(POLL_MS, Math.max(PRECISION_MS, left));
  }
}

export function mine(draft: Draft, blocks: number): void {
  for (let count = 0; count < blocks; count++) draft.seal();
}

/** Moves the chain's clock. A block with the new time follows at once, so that every reader sees it. */
export function setTimeOffset(draft: Draft, seconds: number): void {
  if (draft.head.open && draft.head.open.transactions > 0) draft.seal();
  draft.change({ timeOffsetSeconds: seconds });
  if (draft.head.open) draft.change({ open: draft.newBlock() });
  draft.seal();
}

/** 0: instant blocks. An open block is sealed first. */
export function setBlockTime(draft: Draft, seconds: number, l1AfterBlocks: number | undefined): void {
  if (draft.head.open && draft.head.open.transactions > 0) draft.seal();
  draft.change({ blockSeconds: seconds, ...(l1AfterBlocks !== undefined && { l1AfterBlocks }) });
  draft.change({ open: seconds === 0 ? undefined : draft.newBlock() });
}

export function sealWhenDue(draft: Draft, now: number): void {
  if (isDue(draft.head, now)) draft.seal();
}

export function isDue(head: Head, now: number): boolean {
  return head.open !== undefined && now >= head.open.openedAt + head.blockSeconds * 1000;
}

/** The live network takes hours; tests can reach this many blocks. */
const DEFAULT_L1_AFTER_BLOCKS = 100;

/** Creates block 0. Adds contracts of a newer version and keeps existing state, so a chain survives upgrades. */
export async function ensureGenesis(db: Database, now: () => number): Promise<void> {
  const rows = stateRows(0, genesis(), () => 0n);
  const digest = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
  const known = await db.one<{ genesis: string }>(sql`select genesis from sandbox.chain`);
  if (known?.genesis === digest) return;
  await db.tx(async (tx) => {
    const timestamp = Math.floor(now() / 1000);
    const hash = blockHash({ parent: '0x0', number: 0, timestamp, version: 0 });
    await tx.run(sql`
      insert into sandbox.chain (number, hash, timestamp, sealed_version, version, l1_after_blocks, genesis)
      values (0, ${hash}, ${timestamp}, 0, 0, ${DEFAULT_L1_AFTER_BLOCKS}, ${digest})
      on conflict (only_one) do update
        set genesis = excluded.genesis,
            -- Others must not trust what they remember of the contracts that are new.
            version = chain.version + 1,
            sealed_version = case when chain.open_transactions = 0 then chain.version + 1 else chain.sealed_version end,
            reorganisations = chain.reorganisations + 1
        where chain.genesis <> excluded.genesis`);
    await tx.run(sql`
      insert into sandbox.blocks (number, hash, parent_hash, timestamp, version)
      values (0, ${hash}, '0x0', ${timestamp}, 0) on conflict do nothing`);
    await tx.run(sql`
      insert into sandbox.state (contract, slot, version, value)
      select contract, slot, 0, value from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as row(contract text, slot text, value text)
      on conflict do nothing`);
  });
}
