import { setTimeout as pause } from 'node:timers/promises';

/** Circle allows 35 requests a second from one address: enough for three processes. */
const INTERVAL_MS = 100;
const BLOCK_MS = 300_000;
const MAX_WAIT_MS = 10_000;

export interface ThrottleClock {
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

const systemClock: ThrottleClock = { now: () => performance.now(), pause };

export class Throttle {
  readonly #clock: ThrottleClock;
  #nextAt = 0;
  #blockedUntil = 0;

  constructor(clock: ThrottleClock = systemClock) {
    this.#clock = clock;
  }

  /** False, without waiting, when blocked or when the wait would be too long. */
  async take(): Promise<boolean> {
    const now = this.#clock.now();
    const at = Math.max(now, this.#nextAt);
    if (now < this.#blockedUntil || at - now > MAX_WAIT_MS) return false;
    this.#nextAt = at + INTERVAL_MS;
    if (at > now) await this.#clock.pause(at - now);
    return this.#clock.now() >= this.#blockedUntil;
  }

  block(): void {
    this.#blockedUntil = this.#clock.now() + BLOCK_MS;
  }
}
