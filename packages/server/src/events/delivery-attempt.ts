import { promises as dns } from 'node:dns';
import type { EventType } from '@svc/protocol';
import { type AddressGuard, type Lookup, OutboundError } from '../outbound/address-guard.ts';
import { type OutboundResponse, outboundRequest } from '../outbound/request.ts';
import { secretKey, signedHeaders } from '../outbound/webhook-signature.ts';
import { storableText } from '../util/text.ts';

export interface AttemptDeps {
  readonly guard: AddressGuard;
  readonly timeoutMs?: number;
  readonly now?: () => number;
  readonly random?: () => number;
}

export interface DueDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly attempts: number;
  readonly url: string;
  /** The newest first; each signs. */
  readonly secrets: readonly string[];
  readonly eventId: string;
  readonly type: EventType;
  readonly createdAt: Date;
  readonly data: Record<string, unknown>;
}

export interface Attempt {
  readonly made: AttemptRecord;
  readonly result: AttemptResult;
  readonly timedOut: boolean;
}

/** Receivers are asked to store the event and answer before they process it. */
const TIMEOUT_MS = 20_000;
/** Only the status matters; this much is read so that short answers are not cut off. */
const MAX_ANSWER_BYTES = 65_536;
const STORED_CHARACTERS = 1_000;
const STORED_BYTES = 4 * STORED_CHARACTERS;
const STORED_ERROR_CHARACTERS = 500;

/** Repeating is safe: receivers ignore an event's id that they know. Rejects only with the signal's reason. */
export async function attempt(deps: AttemptDeps, delivery: DueDelivery, signal: AbortSignal): Promise<Attempt> {
  const { now = Date.now, random = Math.random } = deps;
  const attempts = delivery.attempts + 1;
  const startedAt = performance.now();
  const at = new Date(now());
  const toRecord = (status: number | null, error: string | null, response: string | null): AttemptRecord => ({
    ...{ at, durationMs: Math.round(performance.now() - startedAt), status, response },
    error: error && storableText(error, STORED_ERROR_CHARACTERS),
  });
  try {
    const answer = await send(deps, delivery, at, signal);
    const { error, result } = classifyResponse(answer, attempts, now(), random);
    const response = storableText(answer.body.subarray(0, STORED_BYTES).toString('utf8'), STORED_CHARACTERS);
    return { made: toRecord(answer.status, error, response), result, timedOut: false };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const result = afterFailure(attempts, 0, random);
    return { made: toRecord(null, error.message, null), result, timedOut: error.kind === 'timeout' };
  }
}

function send(
  { guard, timeoutMs = TIMEOUT_MS }: AttemptDeps,
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
      ...signedHeaders({ id: eventId, timestamp, body }, secrets.map(secretKey)),
    },
  });
}

export interface AttemptRecord {
  readonly at: Date;
  readonly durationMs: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

export type AttemptResult =
  | { readonly state: 'DELIVERED' }
  | { readonly state: 'WAITING'; readonly delayMs: number }
  | { readonly state: 'FAILED'; readonly cause: 'GONE' | 'USED_UP' };

export interface Outcome {
  readonly error: string | null;
  readonly result: AttemptResult;
}

const GONE = 410;
/** With Retry-After. */
const BUSY: readonly number[] = [429, 503];

export function classifyResponse(
  { status, headers }: OutboundResponse,
  attempts: number,
  nowMs: number,
  random: () => number,
): Outcome {
  if (status >= 200 && status < 300) return { error: null, result: { state: 'DELIVERED' } };
  if (status === GONE) {
    const error = 'The address answered 410: it wants no more webhooks.';
    return { error, result: { state: 'FAILED', cause: 'GONE' } };
  }
  const error =
    status >= 300 && status < 400
      ? `The address answered ${status}. Redirects are not followed.`
      : `The address answered ${status}.`;
  const retryAfterMs = BUSY.includes(status) ? readRetryAfter(headers['retry-after'], nowMs) : 0;
  return { error, result: afterFailure(attempts, retryAfterMs, random) };
}

export function afterFailure(attempts: number, retryAfterMs: number, random: () => number): AttemptResult {
  const delayMs = retryDelayMs(attempts, retryAfterMs, random);
  return delayMs === undefined ? { state: 'FAILED', cause: 'USED_UP' } : { state: 'WAITING', delayMs };
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Over three days, so that a weekend loses nothing. */
export const RETRY_DELAYS_MS: readonly number[] = [
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

const JITTER = 0.1;
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;

/** At least `retryAfterMs`; undefined after the last attempt. */
export function retryDelayMs(attempts: number, retryAfterMs: number, random: () => number): number | undefined {
  const delayMs = RETRY_DELAYS_MS[attempts - 1];
  if (delayMs === undefined) return undefined;
  return Math.max(delayMs * (1 + JITTER * random()), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}

const MAX_LENGTH = 64;

export function readRetryAfter(text: string | undefined, nowMs: number): number {
  const value = (text ?? '').trim();
  if (value === '' || value.length > MAX_LENGTH) return 0;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // HTTP dates start with a weekday and are GMT; Date.parse accepts more than that.
  const isDate = /^[A-Z][a-z]{2,8},? /.test(value);
  const at = isDate ? Date.parse(value.endsWith(' GMT') ? value : `${value} GMT`) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}

/** With a second attempt of twice the time: an HTTP attempt has 20 seconds for everything. */
const LOOKUP_TIMEOUT_MS = 2_000;
const TRIES = 2;

/** Queries DNS itself: the system's resolver would block a thread of the pool that files and compression share. */
export function createLookup(servers?: readonly string[], timeout = LOOKUP_TIMEOUT_MS): Lookup {
  const resolver = new dns.Resolver({ timeout, tries: TRIES });
  if (servers) resolver.setServers(servers);
  return async (hostname) => {
    const name = hostname.replace(/\.$/, '');
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    throw answers.find((answer) => answer.status === 'rejected')?.reason ?? new Error('The name has no address.');
  };
}
