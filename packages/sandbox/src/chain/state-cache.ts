import { type Reads, sql } from '@svc/store';
import type { Head } from './head.ts';
import type { StateRow } from './rows.ts';

/** About 30 MB. A development chain that touches more reads the rest from the database. */
const MAX_ENTRIES = 100_000;
/** Beyond this, reading what others wrote costs more than starting afresh. */
const MAX_VERSIONS_BEHIND = 1_000;

/**
 * Values of one version of the state. A value is found only by whoever names that version, so a reader never mixes
 * two, whatever is written meanwhile.
 */
export class StateCache {
  readonly #values = new Map<string, bigint>();
  readonly #maxEntries: number;
  #version = -1;
  #reorganisations = -1;

  constructor(maxEntries = MAX_ENTRIES) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#values.size;
  }

  get(version: number, contract: string, slot: string): bigint | undefined {
    return version === this.#version ? this.#values.get(`${contract} ${slot}`) : undefined;
  }

  remember(version: number, contract: string, slot: string, value: bigint): void {
    if (version === this.#version) this.#set(`${contract} ${slot}`, value);
  }

  /** After a block of ours: `rows` are all that lies between the cached version and the head's. */
  advance(from: number, head: Head, rows: readonly StateRow[]): void {
    const same = head.reorganisations === this.#reorganisations;
    // A reader of ours may have caught up with it already.
    if (same && head.version <= this.#version) return;
    if (!same || from !== this.#version) {
      this.#restart(head);
      return;
    }
    this.#version = head.version;
    for (const { contract, slot, value } of rows) this.#set(`${contract} ${slot}`, BigInt(value));
  }

  /** Takes over what other processes wrote. */
  async catchUp(reads: Reads, head: Head): Promise<void> {
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
    // Someone else may have moved on while the rows were read.
    if (this.#version === from) this.advance(from, head, rows);
  }

  #restart(head: Head): void {
    // A reader that started before the latest reorganisation must not turn the clock back.
    if (head.version < this.#version) return;
    this.#values.clear();
    this.#version = head.version;
    this.#reorganisations = head.reorganisations;
  }

  /** The oldest entries make room: what is used again is soon back. */
  #set(key: string, value: bigint): void {
    if (this.#values.size >= this.#maxEntries && !this.#values.has(key)) {
      for (const oldest of this.#values.keys()) {
        this.#values.delete(oldest);
        break;
      }
    }
    this.#values.set(key, value);
  }
}
