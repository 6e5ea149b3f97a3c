import type { AnswerOf, BodyOf, Endpoint, ParamsOf, QueryOf } from '@svc/protocol';
import { authentication } from './authentication.ts';
import type { BearerToken, Client } from './client.ts';
import { SvcInputError } from './errors.ts';
import { randomHex } from './random-hex.ts';
import { sendWithRetries } from './send.ts';

/** `undefined` may be passed for what is optional; it is left out on the way. */
type Sent<T> = { readonly [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };
type Given<Name extends string, T> = [T] extends [undefined] ? unknown : { readonly [N in Name]: Sent<T> };

/** What one endpoint is asked with. Method, path and access are checked against the interface by the compiler. */
export type Asked<E extends Endpoint> = {
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
export async function request<E extends Endpoint>(client: Client, asked: Asked<E>): Promise<AnswerOf<E>> {
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
