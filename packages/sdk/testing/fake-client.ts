import { type Client, createClient, defaultRuntime, type Runtime, type SvcOptions } from '../src/client/client.ts';
import type { Config } from '../src/client/config.ts';
import type { SandboxService } from './sandbox-service.ts';

export const PUBLIC_KEY = `pk_dev_${'p'.repeat(32)}`;
export const SECRET_KEY = `sk_dev_${'s'.repeat(32)}`;

/** One attempt. */
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
  /** Before each retry. */
  readonly pausesMs: number[];
}

export interface FakeOptions extends Partial<SvcOptions> {
  readonly runtime?: Partial<Runtime>;
}

/** A client with scripted answers, whose pauses take no time. */
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

/** The rejection of a promise. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

export const USDC = '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb';

const config: Config = {
  network: 'sandbox',
  chainId: '0x5356435f53414e44424f58',
  rpcUrl: 'http://127.0.0.1:1/rpc',
  paymentAddress: '0x9a9',
  tokens: [
    { chain: 'BASE', token: 'USDC', address: '0x1234', decimals: 6 },
    { chain: 'STARKNET', token: 'USDC', address: USDC, decimals: 6 },
    { chain: 'STARKNET', token: 'WLD', address: null, decimals: 18 },
  ],
  privateBalance: null,
  walletClasses: [
    { walletType: 'SVC', classHash: '0xc1a55', current: true },
    { walletType: 'SVC', classHash: '0x01d', current: false },
  ],
};

export interface ConfigClient extends Client {
  /** Paths in order. */
  readonly requests: readonly string[];
}

/** A client whose service answers only GET /config. */
export function configClient(changes: Partial<Config> = {}, publicKey = 'pk_dev_test', nowMs = 0): ConfigClient {
  const requests: string[] = [];
  const fetch = async (url: string) => {
    requests.push(new URL(url).pathname);
    if (url.endsWith('/v1/config')) return Response.json({ ...config, ...changes });
    return Response.json({ error: 'not_found', message: 'There is nothing here.' }, { status: 404 });
  };
  const options = { baseUrl: 'http://127.0.0.1:1/v1', publicKey, secretKey: 'sk_dev_test', fetch };
  return { ...createClient(options, { ...defaultRuntime, now: () => nowMs }), requests };
}

export interface TestClock {
  nowMs: number;
}

/** A client without retries; sleeping moves the clock. */
export function sandboxClient({ baseUrl }: Pick<SandboxService, 'baseUrl'>, clock: TestClock): Client {
  const runtime: Runtime = {
    now: () => clock.nowMs,
    sleep: async (ms) => {
      clock.nowMs += ms;
    },
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  };
  const options = {
    baseUrl,
    publicKey: `pk_dev_${'a'.repeat(32)}`,
    secretKey: `sk_dev_${'b'.repeat(32)}`,
    maxRetries: 0,
  };
  return createClient(options, runtime);
}
