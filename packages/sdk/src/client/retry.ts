import type { Client } from './client.ts';
import { SvcApiError, SvcConnectionError } from './errors.ts';

/** Doubled with each try. */
const FIRST_PAUSE_MS = 250;
/** Nobody waits longer than a rate window for one call; beyond it the error is the better answer. */
const LONGEST_PAUSE_MS = 60_000;

const RATE_LIMITED = 429;
const TRANSIENT_STATUSES = new Set([RATE_LIMITED, 500, 502, 503, 504]);
/** Answered with 500, but by a service that did all it could: asking again at once gives the same answer. */
const FINAL_CODES = new Set(['payout_failed']);

interface Failed {
  readonly method: string;
  /** Counted from 1. */
  readonly attempt: number;
  readonly error: unknown;
}

/** How long to wait before the next try, or undefined when there is none. */
export function pauseBefore({ method, attempt, error }: Failed, client: Client): number | undefined {
  const { maxRetries, runtime } = client;
  if (attempt > maxRetries || !isTransient(error) || !mayRepeat(method, error)) return undefined;
  const asked = error instanceof SvcApiError ? error.retryAfterMs : undefined;
  if (asked !== undefined) return asked <= LONGEST_PAUSE_MS ? asked : undefined;
  // Half to all of the pause, by chance, so that many clients do not come back together.
  const [byte = 0] = runtime.randomBytes(1);
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)) * (0.5 + byte / 510);
}

function isTransient(error: unknown): boolean {
  if (error instanceof SvcApiError) {
    if (FINAL_CODES.has(error.code)) return false;
    return TRANSIENT_STATUSES.has(error.status) || error.code === 'idempotency_key_in_progress';
  }
  return error instanceof SvcConnectionError && error.code !== 'invalid_answer';
}

/**
 * Reads change nothing, PATCH sets the same values again, and a POST carries the same Idempotency-Key each time. What was deleted is
 * gone the second time, and a 404 would hide that the first try succeeded: so only after a refusal that did nothing.
 */
function mayRepeat(method: string, error: unknown): boolean {
  return method !== 'DELETE' || (error instanceof SvcApiError && error.status === RATE_LIMITED);
}
