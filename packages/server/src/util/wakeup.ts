import { setTimeout as pause } from 'node:timers/promises';

export interface Wakeup {
  notify(): void;
  /** A notification since the last wait counts. False when the time passed without one. */
  wait(ms: number): Promise<boolean>;
}

export function createWakeup(): Wakeup {
  let notified = false;
  let wake: (() => void) | undefined;
  return {
    notify() {
      notified = true;
      wake?.();
    },
    async wait(ms) {
      if (!notified) {
        const woken = Promise.withResolvers<void>();
        const timer = setTimeout(woken.resolve, ms);
        wake = woken.resolve;
        await woken.promise;
        clearTimeout(timer);
        wake = undefined;
      }
      const isNotified = notified;
      notified = false;
      return isNotified;
    },
  };
}

const MAX_WAITERS = 10_000;

/** Requests of this process by the id that they wait for. They hold no connection. */
export class Waiters {
  readonly #wakeups = new Map<string, Set<Wakeup>>();
  #count = 0;

  notify(id: string): void {
    for (const wakeup of this.#wakeups.get(id) ?? []) wakeup.notify();
  }

  notifyAll(): void {
    for (const wakeups of this.#wakeups.values()) for (const wakeup of wakeups) wakeup.notify();
  }

  /** `wakeup` is notified until `work` ends; undefined when too many wait already. */
  protected async waiting<T>(id: string, work: (wakeup: Wakeup | undefined) => Promise<T>): Promise<T> {
    const place = this.enter(id);
    try {
      return await work(place?.wakeup);
    } finally {
      place?.leave();
    }
  }

  /** Undefined when too many wait already: of all ids, or of this one. */
  protected enter(id: string, most = MAX_WAITERS): { wakeup: Wakeup; leave(): void } | undefined {
    const wakeups = this.#wakeups.get(id) ?? new Set();
    if (this.#count >= MAX_WAITERS || wakeups.size >= most) return undefined;
    const wakeup = createWakeup();
    this.#wakeups.set(id, wakeups.add(wakeup));
    this.#count += 1;
    const leave = () => {
      if (!wakeups.delete(wakeup)) return;
      this.#count -= 1;
      if (wakeups.size === 0) this.#wakeups.delete(id);
    };
    return { wakeup, leave };
  }
}

export async function sleep(signal: AbortSignal, ms: number): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => {});
}
