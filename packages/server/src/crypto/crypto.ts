import {
  accountAddress,
  contractAddress,
  type Deployment,
  type InvokeFields,
  invokeHash,
  type OutsideExecution,
  outsideExecutionHash,
  type StarkSignature,
  sign,
  verify,
} from '@svc/starknet';

export interface ExecutionCheck {
  readonly execution: OutsideExecution;
  readonly account: bigint;
  readonly chainId: bigint;
  readonly keys: readonly bigint[];
  readonly signature: StarkSignature;
}

export interface CheckedExecution {
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
