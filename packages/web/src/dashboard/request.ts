import { currentEnvironment } from './environment.ts';
import { apiUrl } from './place.ts';

/** An answer of the interface that is no success. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly code: string;
  readonly status: number;
  readonly requestId: string | undefined;

  constructor(code: string, message: string, status: number, requestId?: string) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId;
  }
}

export interface RequestInput {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  /** Of a POST; a new one unless told. */
  readonly idempotencyKey?: string;
}

/** The name of the signed-in member's data. */
export const SESSION_KEY: readonly string[] = ['GET /session'];

const TIMEOUT_MS = 60_000;
/** A repeated request has the same Idempotency-Key, so it is done once. */
const ATTEMPTS = 3;
const PAUSE_MS = 500;

/** Sends one request of the endpoint table. The browser adds the session's cookie. */
export async function send(key: string, input: RequestInput = {}, signal?: AbortSignal): Promise<unknown> {
  const [method = 'GET', path = '/'] = key.split(' ');
  const url = apiUrl + fill(path, input.params) + search(input.query);
  const init: RequestInit = {
    method,
    headers: headersOf(method, input),
    ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
  };
  for (let attempt = 1; ; attempt++) {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    try {
      return await read(await fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, limit]) : limit }));
    } catch (error) {
      if (signal?.aborted) throw error;
      const failure = error instanceof ApiFailure ? error : new ApiFailure('network_error', messageOf(error), 0);
      const isSafe = method === 'GET' || method === 'POST';
      if (!isSafe || attempt >= ATTEMPTS || (failure.status !== 0 && failure.status !== 503)) throw failure;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt));
    }
  }
}

function headersOf(method: string, { body, idempotencyKey }: RequestInput): Record<string, string> {
  return {
    accept: 'application/json',
    'x-svc-environment': currentEnvironment(),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(method === 'POST' && { 'idempotency-key': idempotencyKey ?? randomKey() }),
  };
}

/** `randomUUID` needs a secure context; a dashboard on another machine's plain HTTP has none. */
const randomKey = () => [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-');

function fill(path: string, params: unknown): string {
  const values = (params ?? {}) as Record<string, unknown>;
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

function search(query: unknown): string {
  const entries = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}

async function read(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body;
  const { error = 'internal_error', message = response.statusText } = (body ?? {}) as Record<string, string>;
  throw new ApiFailure(error, message, response.status, response.headers.get('x-request-id') ?? undefined);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
