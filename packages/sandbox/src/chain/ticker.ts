import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@svc/store';
import { readHead } from './head.ts';
import { isDue, sealWhenDue } from './settings.ts';
import type { Writer } from './writer.ts';

/** How soon a process notices that another one has changed the block time. */
const LOOK_EVERY_MS = 1_000;
/** A block may be this much late. */
const PRECISION_MS = 50;

/** Seals blocks at their interval, in whichever process notices first. */
export class Ticker {
  readonly #stopped = new AbortController();
  #wake = new AbortController();
  readonly #done: Promise<void>;

  constructor(db: Database, writer: Writer, now: () => number) {
    this.#done = this.#run(db, writer, now);
  }

  /** Looks at once, because the block time has changed. */
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
      // A database that is away for a moment is back at the next look.
      const wait = await this.#look(db, writer, now).catch(() => LOOK_EVERY_MS);
      const signal = AbortSignal.any([this.#stopped.signal, this.#wake.signal]);
      await pause(wait, undefined, { signal }).catch(() => {});
    }
  }

  /** Answers after how many milliseconds to look again. */
  async #look(db: Database, writer: Writer, now: () => number): Promise<number> {
    const head = await readHead(db);
    if (!head.open) return LOOK_EVERY_MS;
    if (isDue(head, now())) await writer.write(async (draft) => sealWhenDue(draft, now()));
    const left = head.open.openedAt + head.blockSeconds * 1000 - now();
    return Math.min(LOOK_EVERY_MS, Math.max(PRECISION_MS, left));
  }
}
