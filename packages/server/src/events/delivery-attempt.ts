import { promises as dns } from 'node:dns';
import type { EventType } from '@svc/protocol';
import type { AddressGuard, Lookup } from '../outbound/address-guard.ts';
import { type OutboundResponse, outboundRequest } from '../outbound/request.ts';
import { OutboundError } from '../outbound/url.ts';
import { secretKey, signedHeaders } from '../outbound/webhook-signature.ts';
import { storableText } from '../util/text.ts';

export interface AttemptDeps {
  readonly guard: AddressGuard;
  readonly timeoutMs?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
  readonly random?: () => number;
}

export interface Attempt {
  readonly made: AttemptMade;
  readonly verdict: AttemptResult;
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
export async function attempt(deps: AttemptDeps, delivery: DueDelivery, signal: AbortSignal): Promise<Attempt> {
  const { now = Date.now, random = Math.random } = deps;
  const attempts = delivery.attempts + 1;
  const startedAt = performance.now();
  const at = new Date(now());
  const kept = (status: number | null, error: string | null, response: string | null): AttemptMade => ({
    ...{ at, durationMs: Math.round(performance.now() - startedAt), status, response },
    error: error && storableText(error, KEPT_ERROR_CHARACTERS),
  });
  try {
    const answer = await send(deps, delivery, at, signal);
    const { error, verdict } = classifyResponse(answer, attempts, now(), random);
    const response = storableText(answer.body.subarray(0, KEPT_BYTES).toString('utf8'), KEPT_CHARACTERS);
    return { made: kept(answer.status, error, response), verdict, timedOut: false };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const verdict = afterFailure(attempts, 0, random);
    return { made: kept(null, error.message, null), verdict, timedOut: error.kind === 'timeout' };
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

/** What was made of one attempt, as it is kept. */
export interface AttemptMade {
  readonly at: Date;
  readonly durationMs: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

export type AttemptResult =
  | { readonly state: 'DELIVERED' }
  | { readonly state: 'WAITING'; readonly pauseMs: number }
  | { readonly state: 'FAILED'; readonly because: 'GONE' | 'USED_UP' };

export interface Outcome {
  readonly error: string | null;
  readonly verdict: AttemptResult;
}

const GONE = 410;
/** They may say when to come back. */
const BUSY: readonly number[] = [429, 503];

/** What follows from an answer to an attempt. `attempts` counts it. */
export function classifyResponse(
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
export function afterFailure(attempts: number, askedForMs: number, random: () => number): AttemptResult {
  const pauseMs = pauseAfter(attempts, askedForMs, random);
  return pauseMs === undefined ? { state: 'FAILED', because: 'USED_UP' } : { state: 'WAITING', pauseMs };
}

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

const MAX_LENGTH = 64;

/** What a Retry-After header asks for, in seconds or as a date; 0 for what cannot be read. */
export function readRetryAfter(text: string | undefined, nowMs: number): number {
  const value = (text ?? '').trim();
  if (value === '' || value.length > MAX_LENGTH) return 0;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // Dates of HTTP name their day and mean GMT, said or not; what else Date.parse would take is no Retry-After.
  const isDate = /^[A-Z][a-z]{2,8},? /.test(value);
  const at = isDate ? Date.parse(value.endsWith(' GMT') ? value : `${value} GMT`) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}

/** Two looks, of two seconds and of four: an attempt has twenty for everything. */
const LOOKUP_TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Asks DNS itself. The system's own look-up would hold one of the few threads that all look-ups, files and compression of the process
 * share, for as long as a name server of somebody's webhook keeps silent.
 */
export function createLookup(servers?: readonly string[]): Lookup {
  const resolver = new dns.Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  return async (hostname) => {
    const name = hostname.replace(/\.$/, '');
    // No name server is asked for it, and no file is read.
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    throw answers.find((answer) => answer.status === 'rejected')?.reason ?? new Error('The name has no address.');
  };
}

/** A delivery that is due, with all that is needed to send it. */
export interface DueDelivery {
  readonly id: string;
  readonly webhookId: string;
  /** Made so far. */
  readonly attempts: number;
  readonly url: string;
  /** All that sign, the newest first. */
  readonly secrets: readonly string[];
  readonly eventId: string;
  readonly type: EventType;
  readonly createdAt: Date;
  readonly data: Record<string, unknown>;
}
