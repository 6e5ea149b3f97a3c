import type { Call } from '@svc/starknet';
import type { BlockContext } from '../execution/types.ts';

/** The transaction as contracts see it. A plain call has version 0 and no signature. */
export interface TransactionInfo {
  readonly version: bigint;
  readonly hash: bigint;
  readonly signature: readonly bigint[];
  readonly paymasterData: readonly bigint[];
}

export type CallResult =
  | { readonly ok: true; readonly result: bigint[] }
  /** With Cairo's `ENTRYPOINT_FAILED` behind what the callee said. */
  | { readonly ok: false; readonly felts: bigint[] };

export interface Deployment {
  readonly classHash: bigint;
  readonly salt: bigint;
  readonly calldata: readonly bigint[];
  /** The address does not depend on who deploys. */
  readonly fromZero: boolean;
}

/** What a contract's function can see and do: Starknet's system calls. */
export interface Frame {
  readonly address: bigint;
  readonly caller: bigint;
  readonly block: BlockContext;
  readonly transaction: TransactionInfo;
  read(key: bigint): Promise<bigint>;
  write(key: bigint, value: bigint): Promise<void>;
  emit(keys: bigint[], data: bigint[]): void;
  /** The callee's panic becomes this contract's. */
  call(call: Call): Promise<bigint[]>;
  /** The callee's panic undoes what the callee did, and nothing else. */
  tryCall(call: Call): Promise<CallResult>;
  /** Another class's code over this contract's storage, address and caller. */
  libraryCall(classHash: bigint, selector: bigint, calldata: readonly bigint[]): Promise<bigint[]>;
  deploy(deployment: Deployment): Promise<bigint>;
  replaceClass(classHash: bigint): Promise<void>;
}
