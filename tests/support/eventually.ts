import { inspect } from 'node:util';

const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 500;
/** Who has waited long waits longer for the next look. */
const POLLS_PER_WAIT = 4;
/** Workers poll every second; on a busy machine several seconds pass. */
const WAIT_LIMIT_MS = 90_000;

/** Polls until a value fits. Throws at the limit, with the last value. */
export async function eventually<T>(
  read: () => Promise<T>,
  fits: (value: T) => boolean,
  limitMs = WAIT_LIMIT_MS,
): Promise<T> {
  const value = await atMost(limitMs, read, fits);
  if (!fits(value)) throw new Error(`No value fits after ${limitMs} ms. The last one: ${inspect(value)}`);
  return value;
}

/** Polls until a value fits, or the time is over: for faults that may keep it from ever fitting. */
export async function atMost<T>(limitMs: number, read: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  const begun = performance.now();
  for (;;) {
    const value = await read();
    const waitedMs = performance.now() - begun;
    if (fits(value) || waitedMs > limitMs) return value;
    const pollMs = Math.min(MAX_POLL_MS, Math.max(FIRST_POLL_MS, waitedMs / POLLS_PER_WAIT));
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
