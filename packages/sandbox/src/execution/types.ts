import type { TransactionFields } from '@svc/starknet';

/** What execution needs to know of the chain before it. Absent values are 0n, as on a node. */
export interface StateReader {
  storageAt(address: bigint, key: bigint): Promise<bigint>;
  /** 0n: nothing is deployed there. */
  classHashAt(address: bigint): Promise<bigint>;
  nonceAt(address: bigint): Promise<bigint>;
  /** Classes that users declared. The native ones are always known and are not asked for. */
  isDeclared(classHash: bigint): Promise<boolean>;
}

export interface BlockContext {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
  readonly sequencer: bigint;
  readonly chainId: bigint;
}

/** Only what changed: a value written and then restored is not in it. */
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
  /** Computed by the caller, over the version that the transaction carries (a query has its own). */
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
  /** The derived address (`contractAddress` with deployer 0). */
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

/** The wire form of a failure in a call of a call: `revert_error` of error 40, `execution_error` of error 41. */
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

/** One call as it ran, with the calls that it made: the stuff of `starknet_simulateTransactions` traces. */
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
  /** Of an invoke transaction; absent when it was made to revert. */
  readonly execute?: Invocation;
  /** Of a deploy account transaction: its constructor. */
  readonly construct?: Invocation;
  readonly feeTransfer?: Invocation;
}

/** A transaction that belongs in a block. A reverted one keeps nonce, fee and what `__validate__` wrote, nothing else. */
export interface Executed {
  readonly status: 'SUCCEEDED' | 'REVERTED';
  readonly revertReason?: string;
  /** The same failure in the nested form. */
  readonly revertError?: NestedError;
  readonly events: Event[];
  readonly diff: StateDiff;
  /** In FRI. Computed but not charged under `skipFee`. */
  readonly fee: bigint;
  readonly gas: Gas;
  /** Of a deploy account transaction. */
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

/** A transaction that never enters a block: it costs neither nonce nor fee. */
export interface Refused {
  readonly refused: Refusal;
  readonly reason: string;
  /** Where a contract refused, its failure in the nested form. */
  readonly error?: NestedError;
}

export interface ExecutionOptions {
  readonly skipValidate?: boolean;
  /** Neither bounds nor balance are looked at and nothing is charged. */
  readonly skipFee?: boolean;
  readonly skipNonce?: boolean;
  /** The transaction reverts with this text in place of running (a deploy account transaction is refused with it). */
  readonly forceRevert?: string;
}

export interface ValidationOptions {
  readonly skipFee?: boolean;
  /** How far ahead of the account's nonce a transaction may be; 0n by default. */
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
