import type { Database } from '@svc/store';
import { Draft } from './draft.ts';
import { lockHead } from './head.ts';
import { save } from './save.ts';
import type { StateCache } from './state-cache.ts';

/** What arrives together is stored together, but nobody waits longer than this for others. */
const MAX_BATCH_MS = 25;
const MAX_BATCH = 64;
/** Beyond this a client would wait for many seconds; it is told at once. */
const MAX_WAITING = 2_000;

interface Job {
  /** Runs on the draft; the outcome is kept until the draft is stored. */
  run(draft: Draft): Promise<void>;
  stored(): void;
  failed(error: unknown): void;
}

export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/**
 * The only way to change the chain. Work queues here, gets the draft under the lock that makes this process the one
 * writer, and is answered after the commit.
 */
export class Writer {
  readonly #db: Database;
  readonly #cache: StateCache;
  readonly #now: () => number;
  readonly #waiting: Job[] = [];
  #running: Promise<void> | undefined;

  constructor(db: Database, cache: StateCache, now: () => number) {
    this.#db = db;
    this.#cache = cache;
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
      this.#running ??= this.#work().finally(() => {
        this.#running = undefined;
      });
    });
  }

  /** Returns once nothing is waiting. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch: Job[] = [];
      try {
        await this.#store(batch);
        for (const job of batch) job.stored();
      } catch (error) {
        // The lock may not even have been had: then nobody was taken from the queue, and the first one is told.
        if (batch.length === 0) batch.push(...this.#waiting.splice(0, 1));
        for (const job of batch) job.failed(error);
      }
    }
  }

  async #store(batch: Job[]): Promise<void> {
    const { before, draft } = await this.#db.tx(async (tx) => {
      const head = await lockHead(tx);
      await this.#cache.catchUp(tx, head);
      const next = new Draft(tx, head, this.#cache, this.#now);
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
    this.#cache.advance(before.version, draft.head, draft.state);
  }
}
