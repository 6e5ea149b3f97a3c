import { chainIds, toHex } from '@svc/starknet';
import type { Db } from '@svc/store';
import { predeployed } from '../contracts/predeployed.ts';
import type { BlockContext, Executed, Transaction } from '../execution/types.ts';
import { blockHash } from './block-hash.ts';
import type { ContractClass } from './contract-class.ts';
import type { Head } from './head.ts';
import { Overlay } from './overlay.ts';
import {
  type BlockRow,
  type EventRow,
  eventRows,
  type StateRow,
  stateRows,
  type TransactionRow,
  transactionRow,
} from './rows.ts';
import { stateAt } from './state-at.ts';
import type { StateCache } from './state-cache.ts';

/** Keeps what a client has to read for one block within reason; a full block is sealed early. */
export const MAX_BLOCK_TRANSACTIONS = 1_000;

export interface ClassRow {
  readonly hash: string;
  readonly definition: ContractClass;
}

/** What the one writer is about to store: the chain as it will be, if its database transaction commits. */
export class Draft {
  readonly tx: Db;
  readonly blocks: BlockRow[] = [];
  readonly transactions: TransactionRow[] = [];
  readonly events: EventRow[] = [];
  readonly state: StateRow[] = [];
  readonly classes: ClassRow[] = [];
  readonly #cache: StateCache;
  readonly #now: () => number;
  #head: Head;
  #overlay: Overlay;

  constructor(tx: Db, head: Head, cache: StateCache, now: () => number) {
    this.tx = tx;
    this.#head = head;
    this.#cache = cache;
    this.#now = now;
    this.#overlay = new Overlay(stateAt(tx, cache, head.version));
  }

  get head(): Head {
    return this.#head;
  }

  get overlay(): Overlay {
    return this.#overlay;
  }

  change(changes: Partial<Head>): void {
    this.#head = { ...this.#head, ...changes };
  }

  /** Goes on from another head, after whatever was drafted has been stored. */
  restartFrom(head: Head): void {
    for (const rows of [this.blocks, this.transactions, this.events, this.state, this.classes]) rows.length = 0;
    this.#head = head;
    this.#overlay = new Overlay(stateAt(this.tx, this.#cache, head.version));
  }

  /** The block that the next transaction enters. */
  context(): BlockContext {
    return {
      number: BigInt(this.#head.number + 1),
      timestamp: BigInt(this.#openTimestamp()),
      sequencer: predeployed.sequencer.address,
      chainId: chainIds.SVC_SANDBOX,
    };
  }

  /** Takes a transaction into the open block, opening one where there is none. */
  include(tx: Transaction, executed: Executed, definition?: ContractClass): void {
    const open = this.#head.open ?? { timestamp: this.#openTimestamp(), transactions: 0, openedAt: this.#now() };
    const version = this.#head.version + 1;
    const place = { version, block: this.#head.number + 1, index: open.transactions };
    const compiledHash = () => (tx.type === 'DECLARE' ? tx.compiledClassHash : 0n);
    this.transactions.push(transactionRow(place, tx, executed));
    this.events.push(...eventRows(version, executed));
    this.state.push(...stateRows(version, executed.diff, compiledHash));
    if (definition && tx.type === 'DECLARE' && executed.diff.declared.has(tx.classHash)) {
      this.classes.push({ hash: toHex(tx.classHash), definition });
    }
    this.#overlay.apply(executed.diff);
    this.change({ version, open: { ...open, transactions: open.transactions + 1 } });
    if (open.transactions + 1 >= MAX_BLOCK_TRANSACTIONS) this.seal();
  }

  /** Where blocks are instant, no transaction stays without one. */
  settle(): void {
    if (this.#head.blockSeconds === 0 && this.#head.open) this.seal();
  }

  /** Ends the block, an empty one too; where blocks come at an interval the next one opens. */
  seal(): void {
    const { number, hash, version, blockSeconds } = this.#head;
    const block = { number: number + 1, timestamp: this.#openTimestamp(), version, parent: hash };
    const sealed = { ...block, hash: blockHash(block) };
    this.blocks.push({
      number: sealed.number,
      hash: sealed.hash,
      parent_hash: hash,
      timestamp: sealed.timestamp,
      version,
    });
    this.change({ number: sealed.number, hash: sealed.hash, timestamp: sealed.timestamp, sealedVersion: version });
    this.change({ open: blockSeconds === 0 ? undefined : this.newBlock() });
  }

  newBlock(): NonNullable<Head['open']> {
    const now = this.#now();
    return { timestamp: Math.floor(now / 1000) + this.#head.timeOffsetSeconds, transactions: 0, openedAt: now };
  }

  #openTimestamp(): number {
    return (this.#head.open ?? this.newBlock()).timestamp;
  }
}
