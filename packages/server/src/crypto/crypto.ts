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

export interface Crypto {
  /** Goes before the queue: a database lock is held meanwhile. */
  signInvoke(fields: InvokeFields, privateKey: bigint): Promise<SignedFields>;
  checkExecution(check: ExecutionCheck): Promise<CheckedExecution>;
  executionHash(execution: OutsideExecution, account: bigint, chainId: bigint): Promise<bigint>;
  signExecution(
    execution: OutsideExecution,
    account: bigint,
    chainId: bigint,
    privateKey: bigint,
  ): Promise<SignedFields>;
  contractAddress(deployment: Deployment): Promise<bigint>;
  accountAddresses(classHashes: readonly bigint[], publicKey: bigint): Promise<readonly bigint[]>;
  stop(): Promise<void>;
}

type Operation = Exclude<keyof Crypto, 'stop'>;

export type Operations = {
  readonly [Name in Operation]: (...args: Parameters<Crypto[Name]>) => Awaited<ReturnType<Crypto[Name]>>;
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
