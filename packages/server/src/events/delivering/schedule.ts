const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** After the first attempt, the second, and so on: over three days, so that a weekend loses nothing. */
export const PAUSES_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** What failed together does not come back together. */
const JITTER = 0.1;
/** A receiver that asks for more is asked once a day. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;

/** How long to wait after so many failed attempts, and no less than was asked for; undefined after the last. */
export function pauseAfter(attempts: number, askedForMs: number, random: () => number): number | undefined {
  const pauseMs = PAUSES_MS[attempts - 1];
  if (pauseMs === undefined) return undefined;
  return Math.max(pauseMs * (1 + JITTER * random()), Math.min(askedForMs, MAX_RETRY_AFTER_MS));
}
