import { setTimeout as pause } from 'node:timers/promises';

/** Waits, but not longer than until the signal is aborted. */
export async function pauseUnless(signal: AbortSignal, ms: number): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => {});
}
