import type { TransactionFields } from '@svc/starknet';

/** Absent values are 0n, as on a node. */
export interface StateReader {
  storageAt(address: bigint, key: bigint): Promise<bigint>;
  /** 0n: not deployed. */
  classHashAt(address: bigint): Promise<bigint>;
  nonceAt(address: bigint): Promise<bigint>;
  /** Classes declared by users; native classes are always known. */
  isDeclared(classHash: bigint): Promise<boolean>;
}

export interface BlockContext {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
  readonly sequencer: bigint;
  readonly chainId: bigint;
}

/** Net changes: a value written and restored is not included. */
export interface StateDiff {
  readonly storage: Map<bigint, Map<bigint, bigint>>;
  readonly nonces: Map<bigint, bigint>;
  readonly classHashes: Map<bigint, bigint>;
  readonly declared: Set<bigint>;
}

export interface Event {
  readonly from: bigint;
  readonly keys: bigint[];
  readonly data: bigint[];
}

interface Signed extends TransactionFields {
  /** Over the version that the transaction carries (queries have their own). */
  readonly hash: bigint;
  readonly signature: readonly bigint[];
}

export interface InvokeTransaction extends Signed {
  readonly type: 'INVOKE';
  readonly sender: bigint;
  readonly calldata: readonly bigint[];
  readonly accountDeploymentData: readonly bigint[];
}

export interface DeployAccountTransaction extends Signed {
  readonly type: 'DEPLOY_ACCOUNT';
  readonly address: bigint;
  readonly classHash: bigint;
  readonly salt: bigint;
  readonly constructorCalldata: readonly bigint[];
}

export interface DeclareTransaction extends Signed {
  readonly type: 'DECLARE';
  readonly sender: bigint;
  readonly classHash: bigint;
  readonly compiledClassHash: bigint;
  readonly accountDeploymentData: readonly bigint[];
}

export type Transaction = InvokeTransaction | DeployAccountTransaction | DeclareTransaction;

/** Wire form of `revert_error` (error 40) and `execution_error` (error 41). */
export type NestedError =
  | string
  | {
      readonly contract_address: string;
      readonly class_hash: string;
      readonly selector: string;
      readonly error: NestedError;
    };

export interface Gas {
  readonly l1Gas: bigint;
  readonly l1DataGas: bigint;
  readonly l2Gas: bigint;
}

export interface Invocation {
  readonly callType: 'CALL' | 'LIBRARY_CALL' | 'DEPLOY';
  readonly entryPointType: 'EXTERNAL' | 'CONSTRUCTOR';
  readonly address: bigint;
  readonly caller: bigint;
  readonly classHash: bigint;
  readonly selector: bigint;
  readonly calldata: readonly bigint[];
  readonly result: readonly bigint[];
  readonly failed: boolean;
  readonly calls: readonly Invocation[];
  readonly events: readonly { readonly order: number; readonly keys: bigint[]; readonly data: bigint[] }[];
}

export interface Trace {
  readonly validate?: Invocation;
  /** Of an invoke transaction; absent if it was forced to revert. */
  readonly execute?: Invocation;
  readonly construct?: Invocation;
  readonly feeTransfer?: Invocation;
}

/** A transaction for a block. If reverted, only nonce, fee and the writes of `__validate__` remain. */
export interface Executed {
  readonly status: 'SUCCEEDED' | 'REVERTED';
  readonly revertReason?: string;
  readonly revertError?: NestedError;
  readonly events: Event[];
  readonly diff: StateDiff;
  /** In FRI. Computed but not charged under `skipFee`. */
  readonly fee: bigint;
  readonly gas: Gas;
  readonly contractAddress?: bigint;
  readonly trace: Trace;
}

export type Refusal =
  | 'INVALID_NONCE'
  | 'INSUFFICIENT_BALANCE'
  | 'INSUFFICIENT_RESOURCES'
  | 'VALIDATION_FAILURE'
  | 'NON_ACCOUNT'
  | 'CLASS_NOT_FOUND'
  | 'CLASS_ALREADY_DECLARED'
  | 'CONTRACT_NOT_FOUND';

/** Never enters a block: no nonce used, no fee charged. */
export interface Refused {
  readonly refused: Refusal;
  readonly reason: string;
  readonly error?: NestedError;
}

export interface ExecutionOptions {
  readonly skipValidate?: boolean;
  /** Bounds and balance are not checked, nothing is charged. */
  readonly skipFee?: boolean;
  readonly skipNonce?: boolean;
  /** Reverts with this text instead of running (a deploy account transaction is refused). */
  readonly forceRevert?: string;
}

export interface ValidationOptions {
  readonly skipFee?: boolean;
  readonly maxNonceGap?: bigint;
}

export interface ContractCall {
  readonly to: bigint;
  readonly selector: bigint;
  readonly calldata: readonly bigint[];
}

export type CallOutcome =
  | { readonly ok: true; readonly result: bigint[] }
  | {
      readonly ok: false;
      readonly kind: 'CONTRACT_NOT_FOUND' | 'ENTRYPOINT_NOT_FOUND' | 'REVERTED';
      readonly error: NestedError;
    };

export interface GasPrice {
  readonly fri: bigint;
  readonly wei: bigint;
}

export interface GasPrices {
  readonly l1Gas: GasPrice;
  readonly l1DataGas: GasPrice;
  readonly l2Gas: GasPrice;
}
