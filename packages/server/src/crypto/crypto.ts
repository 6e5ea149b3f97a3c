import { Agent, request } from 'node:https';
import { ApiError, isObject } from '@svc/protocol';
import {
  accountAddress,
  contractAddress,
  type Deployment,
  type InvokeFields,
  invokeHash,
  type OutsideExecution,
  outsideExecutionHash,
  parseFelt,
  type StarkSignature,
  sign,
  toHex,
  verify,
} from '@svc/starknet';

interface ExecutionCheck {
  readonly execution: OutsideExecution;
  readonly account: bigint;
  readonly chainId: bigint;
  readonly keys: readonly bigint[];
  readonly signature: StarkSignature;
}

interface CheckedExecution {
  readonly hash: bigint;
  readonly signer: bigint | undefined;
}

export interface SignedFields {
  readonly hash: bigint;
  readonly signature: readonly [bigint, bigint];
}

/** A private key in this process, or a key that a signer elsewhere holds. */
export type SigningKey = bigint | HeldKey;

/** The port for a holder of a key: it answers signatures, never the key. Its answers are verified. */
export interface HeldKey {
  readonly publicKey: bigint;
  sign(request: SignRequest): Promise<StarkSignature>;
}

/** With what the hash is of, so that the signer can compute it, and refuse. `check` is of nothing that a chain executes. */
export type SignRequest = { readonly hash: bigint } & (
  | { readonly kind: 'transaction'; readonly transaction: InvokeFields }
  | {
      readonly kind: 'execution';
      readonly execution: OutsideExecution;
      readonly account: bigint;
      readonly chainId: bigint;
    }
  | { readonly kind: 'check' }
);

export interface Crypto {
  /** Goes before the queue: a database lock is held meanwhile. */
  signInvoke(fields: InvokeFields, key: SigningKey): Promise<SignedFields>;
  checkExecution(check: ExecutionCheck): Promise<CheckedExecution>;
  executionHash(execution: OutsideExecution, account: bigint, chainId: bigint): Promise<bigint>;
  signExecution(execution: OutsideExecution, account: bigint, chainId: bigint, key: SigningKey): Promise<SignedFields>;
  contractAddress(deployment: Deployment): Promise<bigint>;
  accountAddresses(classHashes: readonly bigint[], publicKey: bigint): Promise<readonly bigint[]>;
  stop(): Promise<void>;
}

type Keyless = Exclude<keyof Crypto, 'stop' | 'signInvoke' | 'signExecution'>;

/** Of the threads. */
export type Operations = {
  readonly [Name in Keyless]: (...args: Parameters<Crypto[Name]>) => Awaited<ReturnType<Crypto[Name]>>;
} & {
  signInvoke(fields: InvokeFields, privateKey: bigint): SignedFields;
  signExecution(execution: OutsideExecution, account: bigint, chainId: bigint, privateKey: bigint): SignedFields;
  invokeHash(fields: InvokeFields): bigint;
  verify(hash: bigint, publicKey: bigint, r: bigint, s: bigint): boolean;
};

export const operations: Operations = {
  signInvoke(fields, privateKey) {
    const hash = invokeHash(fields);
    const { r, s } = signQuietly(hash, privateKey);
    return { hash, signature: [r, s] };
  },

  checkExecution({ execution, account, chainId, keys, signature: { r, s } }) {
    const hash = outsideExecutionHash(2, execution, account, chainId);
    return { hash, signer: keys.find((key) => verify(hash, key, r, s)) };
  },

  executionHash: (execution, account, chainId) => outsideExecutionHash(2, execution, account, chainId),

  signExecution(execution, account, chainId, privateKey) {
    const hash = outsideExecutionHash(2, execution, account, chainId);
    const { r, s } = signQuietly(hash, privateKey);
    return { hash, signature: [r, s] };
  },

  invokeHash,
  verify,
  contractAddress,
  accountAddresses: (classHashes, publicKey) => classHashes.map((classHash) => accountAddress(classHash, publicKey)),
};

/** The library's error message contains a refused key, so it is not passed on. */
function signQuietly(hash: bigint, privateKey: bigint) {
  try {
    return sign(hash, privateKey);
  } catch {
    throw new RangeError('The private key or the hash is out of range');
  }
}

export interface Job {
  readonly operation: keyof Operations;
  readonly args: readonly unknown[];
}

/** First `ready`, then one answer per job with its duration. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly answer: unknown; readonly ms: number }
  | { readonly kind: 'failed'; readonly message: string; readonly ms: number };

export interface RemoteSignerOptions {
  readonly url: string;
  /** PEM. The signer lets in who has them. */
  readonly certificate: string;
  readonly key: string;
  /** PEM; without it the authorities of the system. */
  readonly ca: string | undefined;
}

/** The nonce of an account is locked meanwhile. */
const TIMEOUT_MS = 5_000;
const MAX_ANSWER = 4_096;

/** Keys behind HTTPS with mutual TLS. Each request carries what is signed, with felts in hexadecimal digits, and is answered `{ r, s }`. */
export function createRemoteSigner({ url, certificate, key, ca }: RemoteSignerOptions) {
  const agent = new Agent({ keepAlive: true, cert: certificate, key, ...(ca !== undefined && { ca }) });
  return {
    keyOf: (publicKey: bigint): HeldKey => ({
      publicKey,
      sign: async (asked) => readSignature(await post(agent, url, bodyOf(publicKey, asked)).catch(unavailable)),
    }),
    close: () => agent.destroy(),
  };
}

const bodyOf = (publicKey: bigint, asked: SignRequest): string =>
  JSON.stringify({ publicKey, ...asked }, (_, value: unknown) => (typeof value === 'bigint' ? toHex(value) : value));

function post(agent: Agent, url: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER) sent.destroy(new Error('its answer is too long'));
      });
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(text);
        else reject(new Error(`it answered HTTP ${answer.statusCode}`));
      });
    });
    const late = setTimeout(() => sent.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    sent.on('close', () => clearTimeout(late));
    sent.on('error', reject);
    sent.end(body);
  });
}

/** No signature arrived here, and nothing was sent: safe to repeat. */
function unavailable(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new ApiError('chain_unavailable', 'The signer of this deployment does not sign. Try again later.', {
    cause: new Error(`SIGNER_URL: ${reason}`, { cause: error }),
  });
}

function readSignature(text: string): StarkSignature {
  const { r, s } = parse(text);
  const [first, second] = [parseFelt(String(r)), parseFelt(String(s))];
  if (!first.ok || !second.ok) return unavailable(new Error('its answer has no r and s'));
  return { r: first.value, s: second.value };
}

function parse(text: string): { readonly r?: unknown; readonly s?: unknown } {
  try {
    const answer: unknown = JSON.parse(text);
    return isObject(answer) ? answer : {};
  } catch {
    return {};
  }
}
