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
  /** Who may have signed: public keys, tried in this order. */
  readonly keys: readonly bigint[];
  readonly signature: StarkSignature;
}

export interface CheckedExecution {
  /** The message that was to be signed. */
  readonly hash: bigint;
  /** The first of the keys whose signature it is; undefined when it is nobody's. */
  readonly signer: bigint | undefined;
}

export interface SignedFields {
  readonly hash: bigint;
  readonly signature: readonly [bigint, bigint];
}

/** Hashing and signatures, off the thread that serves requests. */
export interface Crypto {
  /** Goes before everything that waits: a database lock is held meanwhile. */
  signInvoke(fields: InvokeFields, privateKey: bigint): Promise<SignedFields>;
  checkExecution(check: ExecutionCheck): Promise<CheckedExecution>;
  /** The message of an outside execution, version 2. */
  executionHash(execution: OutsideExecution, account: bigint, chainId: bigint): Promise<bigint>;
  contractAddress(deployment: Deployment): Promise<bigint>;
  /** Where the accounts of an owner stand, one for each class, in their order. */
  accountAddresses(classHashes: readonly bigint[], publicKey: bigint): Promise<readonly bigint[]>;
  stop(): Promise<void>;
}

type Operation = Exclude<keyof Crypto, 'stop'>;

/** What the threads can do: the same names and arguments, answered at once. */
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
  contractAddress,
  accountAddresses: (classHashes, publicKey) => classHashes.map((classHash) => accountAddress(classHash, publicKey)),
};

/** The curve's library writes a key that it refuses into its message, so nothing of that error is passed on. */
function signQuietly(hash: bigint, privateKey: bigint) {
  try {
    return sign(hash, privateKey);
  } catch {
    throw new RangeError('The private key or the hash is out of range');
  }
}

/** To a thread, which has one job at a time. */
export interface Job {
  readonly operation: keyof Operations;
  readonly args: readonly unknown[];
}

/** And back: once that it is ready, then one answer to each job, with the time that the job took. */
export type Tell =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly answer: unknown; readonly ms: number }
  | { readonly kind: 'failed'; readonly message: string; readonly ms: number };
