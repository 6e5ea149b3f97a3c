import { setTimeout as pause } from 'node:timers/promises';
import type { Db } from '@svc/store';
import { type ProviderClient, tellResults } from './tell-results.ts';

const LOOK_EVERY_MS = 1_000;

/** Looks each second for what is to be delivered and told; what a killed process left is found by the next one. */
export class Messenger {
  readonly #stopped = new AbortController();
  readonly #done: Promise<void>;

  constructor(db: Db, client: ProviderClient, now: () => number) {
    this.#done = this.#run(db, client, now);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }

  async #run(db: Db, client: ProviderClient, now: () => number): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
      // A database that is away for a moment is back at the next look.
      if (!signal.aborted) await tellResults(db, client, now, signal).catch(() => {});
    }
  }
}
