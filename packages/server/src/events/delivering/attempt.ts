import type { AddressGuard } from '../../outbound/address-guard.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import { outboundRequest } from '../../outbound/request.ts';
import type { DueDelivery } from './due.ts';
import { signedHeaders } from './sign.ts';
import { type AttemptMade, afterFailure, judge, type Verdict } from './verdict.ts';

export interface AttemptParts {
  readonly guard: AddressGuard;
  readonly timeoutMs?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
  readonly random?: () => number;
}

export interface Attempt {
  readonly made: AttemptMade;
  readonly verdict: Verdict;
  /** Whether nothing came back in time. */
  readonly timedOut: boolean;
}

/** A receiver stores what it got and answers; its work comes after that. */
const TIMEOUT_MS = 20_000;
/** Nothing in an answer is of use but its status; this much is read so that polite ones are not cut off. */
const MAX_ANSWER_BYTES = 65_536;
/** As much of an answer as is kept, for people to look at. */
const KEPT_CHARACTERS = 1_000;
const KEPT_BYTES = 4 * KEPT_CHARACTERS;
const KEPT_ERROR_CHARACTERS = 500;

/**
 * Sends a delivery once. Repeating it is safe: the event's id goes with it, and receivers are told to remember it. Rejects only with
 * the reason of the signal; everything else is an outcome.
 */
export async function attempt(parts: AttemptParts, delivery: DueDelivery, signal: AbortSignal): Promise<Attempt> {
  const { now = Date.now, random = Math.random } = parts;
  const attempts = delivery.attempts + 1;
  const startedAt = performance.now();
  const at = new Date(now());
  const kept = (status: number | null, error: string | null, response: string | null): AttemptMade => ({
    ...{ at, durationMs: Math.round(performance.now() - startedAt), status, response },
    error: error && clean(error, KEPT_ERROR_CHARACTERS),
  });
  try {
    const answer = await send(parts, delivery, at, signal);
    const { error, verdict } = judge(answer, attempts, now(), random);
    const response = clean(answer.body.subarray(0, KEPT_BYTES).toString('utf8'), KEPT_CHARACTERS);
    return { made: kept(answer.status, error, response), verdict, timedOut: false };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const verdict = afterFailure(attempts, 0, random);
    return { made: kept(null, error.message, null), verdict, timedOut: error.kind === 'timeout' };
  }
}

function send(
  { guard, timeoutMs = TIMEOUT_MS }: AttemptParts,
  { url, secrets, eventId, type, createdAt, data }: DueDelivery,
  at: Date,
  signal: AbortSignal,
) {
  const body = JSON.stringify({ type, timestamp: createdAt.toISOString(), data });
  const timestamp = Math.floor(at.getTime() / 1_000);
  return outboundRequest(url, {
    ...{ guard, timeoutMs, signal, body, method: 'POST', maxBodyBytes: MAX_ANSWER_BYTES },
    headers: {
      'content-type': 'application/json',
      'user-agent': 'svc-webhooks',
      ...signedHeaders({ id: eventId, timestamp, body }, secrets),
    },
  });
}

/** What the database takes as text: without zeros, and without half a character at the end. */
function clean(text: string, length: number): string {
  return text.replaceAll('\0', '').slice(0, length).toWellFormed();
}
