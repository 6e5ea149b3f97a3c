import type { ProofOfWork } from '@svc/protocol';
import { SvcInputError } from './errors.ts';
import { readTrust, type Trust, type TrustOptions } from './trust.ts';
import { readUrl } from './values.ts';

/** A user's token, or a function that returns a fresh one for each request. */
export type BearerToken = string | (() => string | Promise<string>);
export type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

/** Solves a challenge and returns the proof. */
export type SolveProof = (challenge: ProofOfWork) => Promise<string>;

/** A `Worker` of the browser or of Node that loads `@svc/sdk/private-balance/worker`. */
export interface ProofWorker {
  postMessage(message: unknown, transfer: never[]): void;
  terminate(): unknown;
  addEventListener?(type: 'error', listener: () => void): void;
  on?(type: 'error', listener: () => void): unknown;
}

/** Of every kind of client. */
export interface TransportOptions {
  /** The service's URL, ending in `/v1`. */
  readonly baseUrl: string;
  readonly fetch?: Fetch | undefined;
  /** Retries after a connection error or a transient status. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** Per attempt. Default: 60000. */
  readonly timeoutMs?: number | undefined;
}

export interface SvcOptions extends TransportOptions {
  /** `pk_…`: identifies your app; may be public. */
  readonly publicKey: string;
  /** `sk_…`: for servers only; refused in a browser. */
  readonly secretKey?: string | undefined;
  /** The user's token; a token passed to an operation takes precedence. */
  readonly bearerToken?: BearerToken | undefined;
  /** Starknet nodes to read from, preferred first. Default: the service's node. */
  readonly nodeUrl?: string | readonly string[] | undefined;
  /** Account classes, tokens and the payment address that your app accepts beside the library's own lists. */
  readonly trust?: TrustOptions | undefined;
  /** Lets users of production choose PINs and passphrases that are easy to guess. Default: false. */
  readonly allowWeakEncryptKeys?: boolean | undefined;
  /** Solves challenges of claims elsewhere, such as in a worker. Default: `solveProof`, here. */
  readonly solveProof?: SolveProof | undefined;
  /** Starts a worker for the proofs of private balances. Default: they are made in this thread. */
  readonly proofWorker?: (() => ProofWorker) | undefined;
}

/** Created by `createClient`. Holds no user keys. */
export interface Client {
  readonly baseUrl: string;
  readonly publicKey: string;
  readonly secretKey: string | undefined;
  readonly bearerToken: BearerToken | undefined;
  readonly nodeUrls: readonly string[];
  readonly fetch: Fetch;
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly trust: Trust;
  readonly allowWeakEncryptKeys: boolean;
  readonly solveProof?: SolveProof | undefined;
  readonly proofWorker?: (() => ProofWorker) | undefined;
  /** The credential of an operator or a member, instead of keys. */
  readonly credential?: Readonly<Record<string, string>> | undefined;
  readonly runtime: Runtime;
}

const MAX_RETRIES = 2;
/** Ten retries with doubling pauses take more than two minutes. */
const MOST_RETRIES = 10;
/** A redeem waits up to 30 seconds for the chain; the rest is for slow connections. */
const TIMEOUT_MS = 60_000;
const LONGEST_TIMEOUT_MS = 600_000;

/**
 * Creates the client that single operations take, so that a bundle contains only what the app imports. `createSvc`
 * has all operations.
 *
 * @example
 * const client = createClient({ baseUrl, publicKey, secretKey });
 * const wallet = await getWallet(client, { externalUserId: 'ana' });
 */
export function createClient(options: SvcOptions, runtime: Runtime = defaultRuntime): Client {
  if (options.secretKey !== undefined) refuseSecretInBrowser();
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    publicKey: readKey('publicKey', options.publicKey, 'pk_'),
    secretKey: options.secretKey === undefined ? undefined : readKey('secretKey', options.secretKey, 'sk_'),
    bearerToken: options.bearerToken,
    nodeUrls: [options.nodeUrl ?? []].flat().map(readNodeUrl),
    // Browsers refuse `fetch` as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    maxRetries: readWhole('maxRetries', options.maxRetries ?? MAX_RETRIES, 0, MOST_RETRIES),
    timeoutMs: readWhole('timeoutMs', options.timeoutMs ?? TIMEOUT_MS, 1, LONGEST_TIMEOUT_MS),
    trust: readTrust(options.trust),
    allowWeakEncryptKeys: options.allowWeakEncryptKeys === true,
    solveProof: options.solveProof,
    proofWorker: options.proofWorker,
    runtime,
  };
}

/** A client with other headers than keys. */
export function createCredentialClient(options: TransportOptions, credential: Record<string, string>): Client {
  refuseSecretInBrowser();
  return { ...createClient({ ...options, publicKey: NO_KEY }), credential };
}

/** Never sent. */
const NO_KEY = 'pk_none';

/** Binds an operation to its client. */
export type Bind = <Args extends unknown[], Result>(
  operation: (client: Client, ...args: Args) => Result,
) => (...args: Args) => Result;

export const bind =
  (client: Client): Bind =>
  (operation) =>
  (...args) =>
    operation(client, ...args);

function readBaseUrl(text: string): string {
  const { protocol, hostname, username, password, search, hash } = readUrl('baseUrl', text);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    throw new SvcInputError('invalid_options', 'baseUrl must begin with https:// unless it is on this machine.');
  }
  if (username || password || search || hash) {
    throw new SvcInputError('invalid_options', 'baseUrl must be a plain address without credentials, ? and #.');
  }
  const trimmed = text.replace(/\/+$/, '');
  if (!/\/v1$/.test(trimmed)) throw new SvcInputError('invalid_options', 'baseUrl must end in /v1.');
  return trimmed;
}

const isLoopback = (host: string) => /^(localhost|(.+\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(host);

const readNodeUrl = (text: string): string => readUrl('nodeUrl', text).href;

/** Never repeats the key. Only header-safe characters: `fetch` would print others in its own error. */
function readKey(name: string, key: string, prefix: string): string {
  if (typeof key === 'string' && key.startsWith(prefix) && /^\w+$/.test(key)) return key;
  throw new SvcInputError('invalid_options', `${name} must begin with ${prefix} and have letters and digits only.`);
}

function readWhole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new SvcInputError('invalid_options', `${name} must be a whole number from ${least} to ${most}.`);
}

/** Clock and randomness, replaceable in tests. */
export interface Runtime {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  randomBytes(count: number): Uint8Array<ArrayBuffer>;
}

export const defaultRuntime: Runtime = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    }),
  randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
};

/**
 * A secret key in a page is public. Pages have a document; browsers and their workers identify as `Mozilla/`; servers
 * (Node, Deno, Bun, edge workers) do not.
 */
export function refuseSecretInBrowser(scope: BrowserScope = globalThis): void {
  const { navigator, document } = scope;
  const inBrowser =
    document !== undefined || navigator?.userAgent?.startsWith('Mozilla/') || navigator?.product === 'ReactNative';
  if (!inBrowser) return;
  throw new SvcInputError(
    'secret_key_in_browser',
    'A secret key must never reach a browser or an app. Use bearerToken with the token of the signed-in user.',
  );
}

export interface BrowserScope {
  readonly document?: unknown;
  readonly navigator?: { readonly userAgent?: string; readonly product?: string };
}
