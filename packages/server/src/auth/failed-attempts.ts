import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '@svc/protocol';
import type { Logger } from 'pino';
import type { Authenticate } from '../http/call.ts';
import { clientOf, type Decision, type RateLimiter, TooManyRequests } from '../http/rate-limit.ts';

/** Credentials of as many callers as a process remembers; the oldest is forgotten first. */
const MAX_PROVEN = 10_000;

/**
 * Limits wrong keys and tokens per client address. At the limit, credentials that were right before still pass: others behind the
 * same address are not locked out. All others are refused unread.
 */
export function limitFailures(
  authenticate: Authenticate,
  failures: RateLimiter,
  log: Pick<Logger, 'warn'>,
): Authenticate {
  const proven = new Set<string>();
  return async (access, headers, ip) => {
    if (access === 'none') return authenticate(access, headers, ip);
    const credentials = digestOf(headers);
    const isProven = proven.has(credentials);
    const refusal = isProven ? undefined : failures.refusal(counterOf(ip));
    if (refusal) throw tooMany(refusal);
    try {
      const caller = await authenticate(access, headers, ip);
      if (!isProven) remember(proven, credentials);
      return caller;
    } catch (error) {
      if (!isGuess(error)) throw error;
      proven.delete(credentials);
      const decision = await failures.take(counterOf(ip));
      if (decision.remaining === 0) log.warn({ client: clientOf(ip) }, 'failed authentications at their limit');
      throw decision.allowed ? error : tooMany(decision);
    }
  };
}

const counterOf = (ip: string) => `failed ${clientOf(ip)}`;
const tooMany = ({ resetSeconds }: Decision) => new TooManyRequests(resetSeconds);

/** A request without credentials, or with those of the wrong kind, guesses nothing. */
const isGuess = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'invalid_api_key' || error.code === 'invalid_token');

function digestOf({ 'x-api-key': key, authorization }: IncomingHttpHeaders): string {
  return hash('sha256', `${key} ${authorization}`, 'base64');
}

function remember(proven: Set<string>, credentials: string): void {
  const [oldest] = proven;
  if (proven.size >= MAX_PROVEN && oldest !== undefined) proven.delete(oldest);
  proven.add(credentials);
}
