import { setTimeout as pause } from 'node:timers/promises';

export interface Wakeup {
  notify(): void;
  /** Returns when notified, at once when notified since the last wait, or when the time is up. */
  wait(ms: number): Promise<void>;
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
      notified = false;
    },
  };
}

export async function sleep(signal: AbortSignal, ms: number): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => {});
}
