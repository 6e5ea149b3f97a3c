import { setTimeout as pause } from 'node:timers/promises';

/** Circle takes 35 a second from one address, and three processes behind it may each have this. */
const EVERY_MS = 100;
/** Whoever asks more often is shut out for five minutes. */
const BLOCK_MS = 300_000;
/** So at most a hundred wait; whoever would have to wait longer is better off to ask later. */
const MAX_WAIT_MS = 10_000;

export interface PaceClock {
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

const systemClock: PaceClock = { now: () => performance.now(), pause };

/** Keeps the requests of this process to one service apart. */
export class Throttle {
  readonly #clock: PaceClock;
  #nextAt = 0;
  #blockedUntil = 0;

  constructor(clock: PaceClock = systemClock) {
    this.#clock = clock;
  }

  /** Waits for its turn. False when it would have to wait too long, and then it has taken none. */
  async take(): Promise<boolean> {
    const now = this.#clock.now();
    const at = Math.max(now, this.#nextAt);
    if (now < this.#blockedUntil || at - now > MAX_WAIT_MS) return false;
    this.#nextAt = at + EVERY_MS;
    if (at > now) await this.#clock.pause(at - now);
    // Somebody ahead may have been told meanwhile to ask no more.
    return this.#clock.now() >= this.#blockedUntil;
  }

  /** The service has refused us: nobody asks it for a while. */
  block(): void {
    this.#blockedUntil = this.#clock.now() + BLOCK_MS;
  }
}
