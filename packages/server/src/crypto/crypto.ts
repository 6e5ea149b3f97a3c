import type { Deployment, InvokeFields, OutsideExecution, StarkSignature } from '@svc/starknet';

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
