import { shortString } from './felt.ts';
import { poseidonMany } from './hashes.ts';
import { memoize } from './memoize.ts';

export interface ResourceBounds {
  readonly maxAmount: bigint;
  readonly maxPricePerUnit: bigint;
}

export interface TransactionFields {
  /** 3, or QUERY_VERSION for estimates and simulations. */
  readonly version: bigint;
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly tip: bigint;
  readonly resourceBounds: {
    readonly l1Gas: ResourceBounds;
    readonly l2Gas: ResourceBounds;
    readonly l1DataGas: ResourceBounds;
  };
  readonly paymasterData: readonly bigint[];
  readonly nonceDataAvailabilityMode: 0 | 1;
  readonly feeDataAvailabilityMode: 0 | 1;
}
export interface InvokeFields extends TransactionFields {
  readonly sender: bigint;
  readonly calldata: readonly bigint[];
  readonly accountDeploymentData: readonly bigint[];
}
export interface DeployAccountFields extends TransactionFields {
  readonly address: bigint;
  readonly classHash: bigint;
  readonly salt: bigint;
  readonly constructorCalldata: readonly bigint[];
}
export interface DeclareFields extends TransactionFields {
  readonly sender: bigint;
  readonly classHash: bigint;
  readonly compiledClassHash: bigint;
  readonly accountDeploymentData: readonly bigint[];
}

export const TRANSACTION_VERSION = 3n;
export const QUERY_VERSION = 2n ** 128n + 3n;

const INVOKE = shortString('invoke');
const DEPLOY_ACCOUNT = shortString('deploy_account');
const DECLARE = shortString('declare');
const L1_GAS = shortString('L1_GAS');
const L2_GAS = shortString('L2_GAS');
const L1_DATA_GAS = shortString('L1_DATA');

/** Hashed again after a fee bump or from the mempool. A long one takes half a megabyte. */
const MAX_CACHED = 64;

const calldataHash = memoize(MAX_CACHED, poseidonMany, (calldata: readonly bigint[]) => calldata.join());

export function invokeHash(tx: InvokeFields): bigint {
  return hash(INVOKE, tx.sender, tx, [poseidonMany(tx.accountDeploymentData), calldataHash(tx.calldata)]);
}

export function deployAccountHash(tx: DeployAccountFields): bigint {
  return hash(DEPLOY_ACCOUNT, tx.address, tx, [poseidonMany(tx.constructorCalldata), tx.classHash, tx.salt]);
}

export function declareHash(tx: DeclareFields): bigint {
  const own = [poseidonMany(tx.accountDeploymentData), tx.classHash, tx.compiledClassHash];
  return hash(DECLARE, tx.sender, tx, own);
}

function hash(kind: bigint, account: bigint, tx: TransactionFields, own: readonly bigint[]): bigint {
  const { l1Gas, l2Gas, l1DataGas } = tx.resourceBounds;
  const fee = [tx.tip, packBounds(L1_GAS, l1Gas), packBounds(L2_GAS, l2Gas), packBounds(L1_DATA_GAS, l1DataGas)];
  const availability = (BigInt(tx.nonceDataAvailabilityMode) << 32n) | BigInt(tx.feeDataAvailabilityMode);
  return poseidonMany([
    kind,
    tx.version,
    account,
    poseidonMany(fee),
    poseidonMany(tx.paymasterData),
    tx.chainId,
    tx.nonce,
    availability,
    ...own,
  ]);
}

/** Name, amount (64 bits) and price (128 bits) share a felt; a wider value would overlap. */
function packBounds(resource: bigint, { maxAmount, maxPricePerUnit }: ResourceBounds): bigint {
  if (maxAmount >> 64n !== 0n) throw new RangeError('A resource amount has 64 bits');
  if (maxPricePerUnit >> 128n !== 0n) throw new RangeError('A resource price has 128 bits');
  return (resource << 192n) | (maxAmount << 128n) | maxPricePerUnit;
}
