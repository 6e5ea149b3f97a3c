import { setTimeout as pause } from 'node:timers/promises';

export interface Wakeup {
  ring(): void;
  /** Returns when the bell rings, has rung since the last wait, or the time is up. */
  wait(ms: number): Promise<void>;
}

/** Wakes the one who waits; a ring while nobody waits is not forgotten. */
export function createWakeup(): Wakeup {
  let rung = false;
  let open: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      open?.();
    },
    async wait(ms) {
      if (!rung) {
        const bell = Promise.withResolvers<void>();
        const timer = setTimeout(bell.resolve, ms);
        open = bell.resolve;
        await bell.promise;
        clearTimeout(timer);
        open = undefined;
      }
      rung = false;
    },
  };
}

/** Waits, but not longer than until the signal is aborted. */
export async function sleep(signal: AbortSignal, ms: number): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => {});
}
