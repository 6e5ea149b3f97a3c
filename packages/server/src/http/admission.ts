import { setTimeout as pauseFor } from 'node:timers/promises';
import type { endpoints } from '@svc/protocol';
import { currentTenant } from '@svc/store';
import { TurnQueue } from '../util/semaphore.ts';

/** About a hundred times the work of a read. */
const expensiveOperations: ReadonlySet<string> = new Set<keyof typeof endpoints>([
  'createWallet',
  'createRecipientWallet',
  'executeSponsoredTransaction',
  'executeWalletUpgrade',
]);

export const isExpensive = (operationId: string): boolean => expensiveOperations.has(operationId);

export const BUSY_COUNT = 25;
export const BUSY_WINDOW_MS = 250;
/** Half of a usual client timeout; the work itself comes on top. */
export const LONGEST_WAIT_MS = 10_000;

export interface AdmissionOptions {
  readonly perSecond: number;
  readonly now?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** Throttles expensive requests while many others are served, so that reads stay fast. Organisations take turns; a full queue admits the next early. */
export class AdmissionControl {
  readonly #gapMs: number;
  readonly #maxWaiting: number;
  readonly #now: () => number;
  readonly #pause: (ms: number) => Promise<unknown>;
  /** Ring buffer; `#next` is its oldest entry. */
  readonly #servedAt = new Array<number>(BUSY_COUNT).fill(Number.NEGATIVE_INFINITY);
  #next = 0;
  readonly #waiting = new TurnQueue<() => void>();
  #draining = false;
  #startedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor({ perSecond, now = () => performance.now(), pause = pauseFor }: AdmissionOptions) {
    this.#gapMs = 1_000 / perSecond;
    this.#maxWaiting = Math.ceil(LONGEST_WAIT_MS / this.#gapMs);
    this.#now = now;
    this.#pause = pause;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  served(): void {
    this.#servedAt[this.#next] = this.#now();
    this.#next = (this.#next + 1) % BUSY_COUNT;
  }

  start(tenant = currentTenant()): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.push(tenant, begin);
      if (!this.#isBusy()) this.#beginAll();
      else if (this.#waiting.size > this.#maxWaiting) this.#beginNext();
      if (!this.#draining) void this.#drain();
    });
  }

  /** Admits everything: a process that stops finishes its requests. */
  stop(): void {
    this.#stopped = true;
    this.#beginAll();
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    while (this.#waiting.size > 0) {
      const dueInMs = this.#startedAt + this.#gapMs - this.#now();
      if (!this.#isBusy()) this.#beginAll();
      else if (dueInMs > 0) await this.#pause(dueInMs);
      else this.#beginNext();
    }
    this.#draining = false;
  }

  #isBusy(): boolean {
    const oldest = this.#servedAt[this.#next] ?? Number.NEGATIVE_INFINITY;
    return !this.#stopped && this.#now() - oldest < BUSY_WINDOW_MS;
  }

  #beginNext(): void {
    const begin = this.#waiting.shift();
    if (!begin) return;
    this.#startedAt = this.#now();
    begin();
  }

  #beginAll(): void {
    while (this.#waiting.size > 0) this.#beginNext();
  }
}
