import { setTimeout as pauseFor } from 'node:timers/promises';
import type { endpoints } from '@svc/protocol';

/** They hash, check signatures, ask the chain several times and store: about a hundred times the work of a read. */
const expensive: ReadonlySet<string> = new Set<keyof typeof endpoints>([
  'createWallet',
  'executeSponsoredTransaction',
  'executeWalletUpgrade',
]);

export const isExpensive = (operationId: string): boolean => expensive.has(operationId);

/** A hundred other requests a second: fewer need no help, and those that only prepare expensive ones are fewer. */
export const BUSY_COUNT = 25;
export const BUSY_WINDOW_MS = 250;
/** Half of what callers of an API usually wait; the work itself comes on top. */
export const LONGEST_WAIT_MS = 10_000;

export interface GovernorOptions {
  /** How many expensive requests begin in a second while other requests are served. */
  readonly perSecond: number;
  readonly now?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/**
 * Keeps reads quick beside expensive requests: while many others are served, expensive ones begin at an even pace, in the order
 * in which they came; otherwise at once. More than the pace gets through in `LONGEST_WAIT_MS` do not wait: the oldest goes early.
 */
export class AdmissionControl {
  readonly #gapMs: number;
  readonly #mostWaiting: number;
  readonly #now: () => number;
  readonly #pause: (ms: number) => Promise<unknown>;
  /** When the latest of the others were served, around in a ring. */
  readonly #servedAt = new Array<number>(BUSY_COUNT).fill(Number.NEGATIVE_INFINITY);
  #next = 0;
  readonly #waiting: (() => void)[] = [];
  #handingOut = false;
  #startedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor({ perSecond, now = () => performance.now(), pause = pauseFor }: GovernorOptions) {
    this.#gapMs = 1_000 / perSecond;
    this.#mostWaiting = Math.ceil(LONGEST_WAIT_MS / this.#gapMs);
    this.#now = now;
    this.#pause = pause;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** To be told of every request that is not expensive. */
  served(): void {
    this.#servedAt[this.#next] = this.#now();
    this.#next = (this.#next + 1) % BUSY_COUNT;
  }

  /** Resolves when an expensive request may begin. */
  start(): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.push(begin);
      if (!this.#isBusy()) this.#beginAll();
      else if (this.#waiting.length > this.#mostWaiting) this.#beginNext();
      if (!this.#handingOut) void this.#handOut();
    });
  }

  /** Whoever waits begins now, and nobody waits any more: a process that stops finishes what it has taken. */
  stop(): void {
    this.#stopped = true;
    this.#beginAll();
  }

  async #handOut(): Promise<void> {
    this.#handingOut = true;
    while (this.#waiting.length > 0) {
      const dueInMs = this.#startedAt + this.#gapMs - this.#now();
      if (!this.#isBusy()) this.#beginAll();
      else if (dueInMs > 0) await this.#pause(dueInMs);
      else this.#beginNext();
    }
    this.#handingOut = false;
  }

  #isBusy(): boolean {
    // The place that is written next holds the oldest.
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
    while (this.#waiting.length > 0) this.#beginNext();
  }
}
