import type { Access, AnswerOf, BodyOf, Endpoint, ParamsOf, QueryOf } from '@svc/protocol';
import { type BearerToken, type Client, refuseSecretInBrowser } from './client.ts';
import { SvcApiError, SvcConnectionError, SvcInputError } from './errors.ts';
import { isObject, randomHex } from './values.ts';

/** `undefined` may be passed for what is optional; it is left out on the way. */
type Sent<T> = { readonly [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };
type Given<Name extends string, T> = [T] extends [undefined] ? unknown : { readonly [N in Name]: Sent<T> };

/** What one endpoint is asked with. Method, path and access are checked against the interface by the compiler. */
export type RequestSpec<E extends Endpoint> = {
  readonly route: `${E['method']} ${E['path']}`;
  readonly access: E['access'];
  readonly bearerToken?: BearerToken | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The same key for the same purpose: the service does it once. Default: a new one for each call. */
  readonly idempotencyKey?: string | undefined;
} & Given<'params', ParamsOf<E>> &
  Given<'query', QueryOf<E>> &
  Given<'body', BodyOf<E>>;

interface Loose {
  readonly params?: Record<string, string>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
}

/** Of an idempotency key that nobody has chosen: enough that no two are the same. */
const KEY_BYTES = 16;

/** Asks one endpoint of the service, again where that is safe, and answers its answer. */
export async function request<E extends Endpoint>(client: Client, asked: RequestSpec<E>): Promise<AnswerOf<E>> {
  const [method = '', path = ''] = asked.route.split(' ');
  const { params, query, body }: Loose = asked as Loose;
  const fixed: Record<string, string> = {};
  if (body !== undefined) fixed['content-type'] = 'application/json';
  if (method === 'POST')
    fixed['idempotency-key'] = readKey(asked.idempotencyKey) ?? randomHex(client.runtime, KEY_BYTES);
  const answer = await sendWithRetries(client, {
    method,
    url: client.baseUrl + fill(path, params) + search(query),
    headers: async () => ({ ...(await authentication(client, asked.access, asked.bearerToken)), ...fixed }),
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: asked.signal,
  });
  return answer as AnswerOf<E>;
}

/** Nothing, `.` and `..` would be read as another address. */
function fill(path: string, params: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (typeof value === 'string' && !/^\.{0,2}$/.test(value)) return encodeURIComponent(value);
    throw new SvcInputError('invalid_input', `${name} is missing or not valid.`);
  });
}

function search(query: Record<string, unknown> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** As the service reads it. */
function readKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new SvcInputError('invalid_input', 'idempotencyKey must be 1 to 255 printable ASCII characters.');
}

export interface Sending {
  readonly method: string;
  readonly url: string;
  /** Asked for each try. */
  readonly headers: () => Promise<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request until it is answered, or cannot be, or was tried often enough. `retry.ts` says what is safe to send again. */
export async function sendWithRetries(client: Client, sending: Sending): Promise<unknown> {
  const { method, signal } = sending;
  for (let attempt = 1; ; attempt++) {
    try {
      const { response, text } = await exchange(client, sending);
      return readAnswer(response, text, client.runtime.now());
    } catch (error) {
      const pauseMs = pauseBefore({ method, attempt, error }, client);
      if (pauseMs === undefined || signal?.aborted) throw error;
      await client.runtime.sleep(pauseMs, signal);
    }
  }
}

async function exchange(client: Client, { method, url, headers, body, signal }: Sending) {
  const init = { method, headers: await headers(), ...(body === undefined ? {} : { body }) };
  const timeout = AbortSignal.timeout(client.timeoutMs);
  try {
    const response = await client.fetch(url, {
      ...init,
      ...withoutCookies(),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // Keys and tokens go to the address that was configured and nowhere else.
      redirect: 'manual',
    });
    return { response, text: await response.text() };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unanswered(new URL(url).host, timeout.aborted ? client.timeoutMs : undefined, error);
  }
}

function unanswered(host: string, afterMs: number | undefined, cause: unknown): SvcConnectionError {
  if (afterMs === undefined) {
    return new SvcConnectionError('connection_failed', `${host} could not be reached.`, { cause });
  }
  return new SvcConnectionError('timeout', `${host} did not answer within ${afterMs} ms.`, { cause });
}

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
function pauseBefore({ method, attempt, error }: Failed, client: Client): number | undefined {
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

/** What the service answered, or throws the error that it answered with. */
function readAnswer(response: Response, text: string, nowMs: number): unknown {
  const answer = parse(text);
  if (response.ok && answer.ok) return answer.value;
  throw toError(response, answer.ok ? answer.value : undefined, nowMs);
}

function parse(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}

function toError(response: Response, body: unknown, nowMs: number): SvcApiError | SvcConnectionError {
  const { status, headers } = response;
  if (isRedirect(response)) {
    return new SvcConnectionError(
      'invalid_answer',
      'The answer leads elsewhere. Is baseUrl the address of the service?',
    );
  }
  if (status < 400) {
    return new SvcConnectionError('invalid_answer', 'The answer is not JSON. Is baseUrl the address of the service?');
  }
  const details = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: readRetryAfter(headers.get('retry-after'), nowMs),
  };
  const { error, message } = isObject(body) ? body : ({} as Record<string, unknown>);
  if (typeof error === 'string' && typeof message === 'string') return new SvcApiError(error, message, details);
  // A proxy on the way, most often.
  return new SvcApiError('unexpected_answer', `HTTP ${status} without an explanation.`, details);
}

/** In seconds, as the service says it, or a date, as a proxy may. */
function readRetryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/**
 * The headers that an endpoint wants. A token that is passed in wins, then the client's own, then the secret key. Gifts are managed by the
 * secret key or the public key, never by a user's token. Asked anew for each try, so that a token that is a function is always fresh.
 */
export async function authentication(
  client: Client,
  access: Access,
  bearerToken?: BearerToken,
): Promise<Record<string, string>> {
  if (access === 'none') return {};
  const key = { 'x-api-key': client.publicKey };
  if (access === 'public') return key;
  if (access === 'either') return client.secretKey ? { ...key, ...bearer(client.secretKey) } : key;
  if (access === 'secret') return { ...key, ...bearer(await read(bearerToken ?? requireSecretKey(client))) };
  const token = bearerToken ?? client.bearerToken ?? client.secretKey;
  if (token !== undefined) return { ...key, ...bearer(await read(token)) };
  throw new SvcInputError(
    'missing_bearer_token',
    'Pass bearerToken (the token of the signed-in user) or, on a server, create the client with secretKey.',
  );
}

/** The operations for which the interface wants a token of its own: the secret key does not stand in. */
export function requireBearerToken(client: Client, bearerToken?: BearerToken): BearerToken {
  const token = bearerToken ?? client.bearerToken;
  if (token !== undefined) return token;
  throw new SvcInputError('missing_bearer_token', 'This operation needs a bearer token: pass it as the last argument.');
}

function requireSecretKey({ secretKey }: Client): string {
  if (secretKey !== undefined) return secretKey;
  throw new SvcInputError(
    'secret_key_required',
    'This operation runs on a server only: create the client with secretKey.',
  );
}

/** Checked here, because `fetch` would print a token that it cannot send in its own error. */
async function read(given: BearerToken): Promise<string> {
  const token: unknown = typeof given === 'function' ? await given() : given;
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw new SvcInputError('invalid_input', 'The bearer token must be text without blanks.');
  }
  if (token.startsWith('sk_')) refuseSecretInBrowser();
  return token;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Browsers hide the status of an answer that leads elsewhere and say so in its type. */
export function isRedirect({ type, status }: Pick<Response, 'type' | 'status'>): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400);
}

/** Some runtimes at the edge have no cookies and refuse the option. */
export function withoutCookies(): { credentials?: 'omit' } {
  return 'credentials' in Request.prototype ? { credentials: 'omit' } : {};
}
