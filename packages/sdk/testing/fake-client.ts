import { type Client, createClient, defaultRuntime, type Runtime, type SvcOptions } from '../src/client/client.ts';

export const PUBLIC_KEY = `pk_dev_${'p'.repeat(32)}`;
export const SECRET_KEY = `sk_dev_${'s'.repeat(32)}`;

/** One try, as it would have gone out. */
export interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
  readonly init: RequestInit;
}

export type Answer = () => Response | Promise<Response>;

export interface FakeClient {
  readonly client: Client;
  readonly sent: Sent[];
  /** How long it wanted to wait before each further try. */
  readonly pausesMs: number[];
}

export interface FakeOptions extends Partial<SvcOptions> {
  readonly runtime?: Partial<Runtime>;
}

/** A client whose requests are answered by `answers`, one after the other, and whose waiting takes no time. */
export function fakeClient(answers: readonly Answer[], { runtime, ...options }: FakeOptions = {}): FakeClient {
  const sent: Sent[] = [];
  const pausesMs: number[] = [];
  const fetch = async (url: string, init: RequestInit = {}) => {
    const answer = answers[sent.length];
    const { method = '', body } = init;
    const parsed: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
    sent.push({ url, method, headers: init.headers as Record<string, string>, body: parsed, init });
    if (!answer) throw new Error('This request was not expected.');
    return answer();
  };
  const sleep = async (ms: number) => {
    pausesMs.push(ms);
  };
  const client = createClient(
    { baseUrl: 'https://svc.example/v1', publicKey: PUBLIC_KEY, secretKey: SECRET_KEY, fetch, ...options },
    { ...defaultRuntime, sleep, ...runtime },
  );
  return { client, sent, pausesMs };
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  () =>
    Response.json(body, { status, headers });

export const refusal = (status: number, error = 'internal_error', headers: Record<string, string> = {}): Answer =>
  json({ error, message: 'A sentence.' }, status, headers);

export const unreachable: Answer = () => {
  throw new TypeError('fetch failed');
};

/** What a promise was rejected with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
