import {
  type Access,
  type AnswerOf,
  type BodyOf,
  type Endpoint,
  type ParamsOf,
  PROOF_HEADER,
  type QueryOf,
} from '@svc/protocol';
import { type BearerToken, type Client, refuseSecretInBrowser } from './client.ts';
import { SvcApiError, SvcConnectionError, SvcInputError } from './errors.ts';
import { isObject, randomHex } from './values.ts';

/** Optional fields may be `undefined`; they are omitted. */
type WithUndefined<T> = { readonly [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };
type SpecField<Name extends string, T> = [T] extends [undefined] ? unknown : { readonly [N in Name]: WithUndefined<T> };

/** A request to one endpoint. The compiler checks method, path and access against the interface. */
type RequestSpec<E extends Endpoint> = {
  readonly route: `${E['method']} ${E['path']}`;
  readonly access: E['access'];
  readonly bearerToken?: BearerToken | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Deduplicates the request at the service. Default: a new key per call. */
  readonly idempotencyKey?: string | undefined;
  /** A solved proof of work. */
  readonly proof?: string | undefined;
} & SpecField<'params', ParamsOf<E>> &
  SpecField<'query', QueryOf<E>> &
  SpecField<'body', BodyOf<E>>;

interface UntypedFields {
  readonly params?: Record<string, string>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
}

const KEY_BYTES = 16;

/** Sends a request to the service, with retries where that is safe. */
export async function request<E extends Endpoint>(client: Client, spec: RequestSpec<E>): Promise<AnswerOf<E>> {
  const [method = '', path = ''] = spec.route.split(' ');
  const { params, query, body }: UntypedFields = spec as UntypedFields;
  const fixed: Record<string, string> = {};
  if (body !== undefined) fixed['content-type'] = 'application/json';
  if (method === 'POST')
    fixed['idempotency-key'] = readKey(spec.idempotencyKey) ?? randomHex(client.runtime, KEY_BYTES);
  if (spec.proof !== undefined) fixed[PROOF_HEADER] = spec.proof;
  const answer = await sendWithRetries(client, {
    method,
    url: client.baseUrl + fill(path, params) + search(query),
    headers: async () => ({ ...(await authentication(client, spec.access, spec.bearerToken)), ...fixed }),
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: spec.signal,
  });
  return answer as AnswerOf<E>;
}

/** Opens an answer that is read as it comes, once: `timeoutMs` counts until it begins, `signal` ends it. */
export async function openStream<E extends Endpoint>(
  client: Client,
  spec: RequestSpec<E> & { readonly signal: AbortSignal },
): Promise<ReadableStream<Uint8Array>> {
  const [method = '', path = ''] = spec.route.split(' ');
  const { params, query }: UntypedFields = spec as UntypedFields;
  const url = client.baseUrl + fill(path, params) + search(query);
  const headers = await authentication(client, spec.access, spec.bearerToken);
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), client.timeoutMs);
  try {
    const signal = AbortSignal.any([spec.signal, timeout.signal]);
    const response = await client.fetch(url, { method, headers, ...withoutCookies(), signal, redirect: 'manual' });
    if (response.ok && response.body) return response.body;
    const answer = parse(await response.text());
    throw toError(response, answer.ok ? answer.value : undefined, client.runtime.now());
  } catch (error) {
    if (spec.signal.aborted || error instanceof SvcApiError || error instanceof SvcConnectionError) throw error;
    throw unanswered(new URL(url).host, timeout.signal.aborted ? client.timeoutMs : undefined, error);
  } finally {
    clearTimeout(timer);
  }
}

/** An empty segment, `.` and `..` would change the path. */
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

function readKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new SvcInputError('invalid_input', 'idempotencyKey must be 1 to 255 printable ASCII characters.');
}

export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: () => Promise<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Retries until an answer, a final error or the last attempt. `mayRepeat` decides which requests are safe to repeat.
 */
export async function sendWithRetries(client: Client, sending: OutgoingRequest): Promise<unknown> {
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

async function exchange(client: Client, { method, url, headers, body, signal }: OutgoingRequest) {
  const init = { method, headers: await headers(), ...(body === undefined ? {} : { body }) };
  const timeout = AbortSignal.timeout(client.timeoutMs);
  try {
    const response = await client.fetch(url, {
      ...init,
      ...withoutCookies(),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // Keys and tokens go to the configured address only.
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

const FIRST_PAUSE_MS = 250;
/** One rate-limit window. */
const LONGEST_PAUSE_MS = 60_000;

const RATE_LIMITED = 429;
const TRANSIENT_STATUSES = new Set([RATE_LIMITED, 500, 502, 503, 504]);
/** Final in spite of their status: a retry of the same request gets the same answer. */
const FINAL_CODES = new Set(['payout_failed', 'proof_of_work_required']);

interface FailedAttempt {
  readonly method: string;
  readonly attempt: number;
  readonly error: unknown;
}

/** Undefined when there is no further attempt. */
function pauseBefore({ method, attempt, error }: FailedAttempt, client: Client): number | undefined {
  const { maxRetries, runtime } = client;
  if (attempt > maxRetries || !isRetryable(error) || !mayRepeat(method, error)) return undefined;
  const retryAfterMs = error instanceof SvcApiError ? error.retryAfterMs : undefined;
  if (retryAfterMs !== undefined) return retryAfterMs <= LONGEST_PAUSE_MS ? retryAfterMs : undefined;
  // Jitter: half to all of the pause.
  const [byte = 0] = runtime.randomBytes(1);
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)) * (0.5 + byte / 510);
}

export function isRetryable(error: unknown): boolean {
  if (error instanceof SvcApiError) {
    if (FINAL_CODES.has(error.code)) return false;
    return TRANSIENT_STATUSES.has(error.status) || error.code === 'idempotency_key_in_progress';
  }
  return error instanceof SvcConnectionError && error.code !== 'invalid_answer';
}

/**
 * GET changes nothing, PATCH sets the same values again, and POST carries the same Idempotency-Key. A repeated DELETE
 * would get 404 after a first success, so it repeats only after a refusal without effect.
 */
function mayRepeat(method: string, error: unknown): boolean {
  return method !== 'DELETE' || (error instanceof SvcApiError && error.status === RATE_LIMITED);
}

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
  return new SvcApiError('unexpected_answer', `HTTP ${status} without an explanation.`, details);
}

/** Seconds from the service, or a date from a proxy. */
function readRetryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/**
 * Authentication headers of an endpoint. Precedence: the operation's token, the client's token, the secret key. Gifts
 * take the secret or public key, never a user's token. Evaluated per attempt, so that token functions are always
 * fresh.
 */
export async function authentication(
  client: Client,
  access: Access,
  bearerToken?: BearerToken,
): Promise<Record<string, string>> {
  if (access === 'none') return {};
  // Browsers name their page themselves; a script names the page that it stands for.
  if (access === 'sign-in') return { origin: new URL(client.baseUrl).origin };
  if (client.credential) return client.credential;
  const key = { 'x-api-key': client.publicKey };
  if (access === 'public') return key;
  if (access === 'either') return client.secretKey ? { ...key, ...bearer(client.secretKey) } : key;
  if (access === 'secret') return { ...key, ...bearer(await resolveToken(bearerToken ?? requireSecretKey(client))) };
  const token = bearerToken ?? client.bearerToken ?? client.secretKey;
  if (token !== undefined) return { ...key, ...bearer(await resolveToken(token)) };
  throw new SvcInputError(
    'missing_bearer_token',
    'Pass bearerToken (the token of the signed-in user) or, on a server, create the client with secretKey.',
  );
}

/** For operations that require a user's token even where a secret key is set. */
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

/** `fetch` would print an invalid token in its own error. */
async function resolveToken(given: BearerToken): Promise<string> {
  const token: unknown = typeof given === 'function' ? await given() : given;
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw new SvcInputError('invalid_input', 'The bearer token must be text without blanks.');
  }
  if (token.startsWith('sk_')) refuseSecretInBrowser();
  return token;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Browsers hide the status of a redirect and set the type instead. */
export function isRedirect({ type, status }: Pick<Response, 'type' | 'status'>): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400);
}

/** Some edge runtimes refuse the option. */
export function withoutCookies(): { credentials?: 'omit' } {
  return 'credentials' in Request.prototype ? { credentials: 'omit' } : {};
}
