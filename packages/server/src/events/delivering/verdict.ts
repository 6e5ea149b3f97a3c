import type { OutboundResponse } from '../../outbound/request.ts';
import { readRetryAfter } from './retry-after.ts';
import { pauseAfter } from './schedule.ts';

/** What was made of one attempt, as it is kept. */
export interface AttemptMade {
  readonly at: Date;
  readonly durationMs: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

export type Verdict =
  | { readonly state: 'DELIVERED' }
  | { readonly state: 'WAITING'; readonly pauseMs: number }
  | { readonly state: 'FAILED'; readonly because: 'GONE' | 'USED_UP' };

export interface Outcome {
  readonly error: string | null;
  readonly verdict: Verdict;
}

const GONE = 410;
/** They may say when to come back. */
const BUSY: readonly number[] = [429, 503];

/** What follows from an answer to an attempt. `attempts` counts it. */
export function judge(
  { status, headers }: OutboundResponse,
  attempts: number,
  nowMs: number,
  random: () => number,
): Outcome {
  if (status >= 200 && status < 300) return { error: null, verdict: { state: 'DELIVERED' } };
  if (status === GONE) {
    const error = 'The address answered 410: it wants no more webhooks.';
    return { error, verdict: { state: 'FAILED', because: 'GONE' } };
  }
  const error =
    status >= 300 && status < 400
      ? `The address answered ${status}. Redirects are not followed.`
      : `The address answered ${status}.`;
  const askedForMs = BUSY.includes(status) ? readRetryAfter(headers['retry-after'], nowMs) : 0;
  return { error, verdict: afterFailure(attempts, askedForMs, random) };
}

/** What follows from a failed attempt. */
export function afterFailure(attempts: number, askedForMs: number, random: () => number): Verdict {
  const pauseMs = pauseAfter(attempts, askedForMs, random);
  return pauseMs === undefined ? { state: 'FAILED', because: 'USED_UP' } : { state: 'WAITING', pauseMs };
}
