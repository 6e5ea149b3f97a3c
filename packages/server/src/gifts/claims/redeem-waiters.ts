import type { Reads } from '@svc/store';
import { createDoorbell, type Doorbell } from '../../jobs/doorbell.ts';
import { findRedeem, type Redeem } from '../redeem.ts';

/** Each is a request that is open; whoever comes when so many wait is told to ask again. */
const MAX_WAITERS = 10_000;
/** Announcements are lost when the connection is, so everyone looks by themselves besides. */
const LOOK_EVERY_MS = 1_000;

/** The requests of this process that wait for a redeem to change. They hold no connection meanwhile. */
export class RedeemWaiters {
  readonly #bells = new Map<string, Set<Doorbell>>();
  readonly #now: () => number;
  #count = 0;
  #stopped = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Somebody said that this redeem has changed. */
  ring(id: string): void {
    for (const bell of this.#bells.get(id) ?? []) bell.ring();
  }

  /** What was said meanwhile is unknown. */
  ringAll(): void {
    for (const bells of this.#bells.values()) for (const bell of bells) bell.ring();
  }

  /** Sends everyone away with what is known now. */
  stop(): void {
    this.#stopped = true;
    this.ringAll();
  }

  /** The redeem once `isEnough` of it, or as it is when the time is up. */
  async until(reads: Reads, id: string, isEnough: (redeem: Redeem) => boolean, patienceMs: number): Promise<Redeem> {
    const deadline = this.#now() + patienceMs;
    const bell = createDoorbell();
    const leave = this.#enter(id, bell);
    try {
      for (;;) {
        const redeem = await findRedeem(reads, id);
        if (!redeem) throw new Error(`Redeem ${id} is gone.`);
        const leftMs = deadline - this.#now();
        if (isEnough(redeem) || !leave || this.#stopped || leftMs <= 0) return redeem;
        await bell.wait(Math.min(LOOK_EVERY_MS, leftMs));
      }
    } finally {
      leave?.();
    }
  }

  /** Undefined where no more can wait. */
  #enter(id: string, bell: Doorbell): (() => void) | undefined {
    if (this.#count >= MAX_WAITERS) return undefined;
    const bells = this.#bells.get(id) ?? new Set();
    this.#bells.set(id, bells.add(bell));
    this.#count += 1;
    return () => {
      this.#count -= 1;
      bells.delete(bell);
      if (bells.size === 0) this.#bells.delete(id);
    };
  }
}
