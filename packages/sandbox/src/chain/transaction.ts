import {
  chainIds,
  contractAddress,
  declareHash,
  deployAccountHash,
  invokeHash,
  parseFelt,
  poseidonMany,
  type ResourceBounds,
  shortString,
  starknetKeccak,
  TRANSACTION_VERSION,
  type TransactionFields,
  toHex,
} from '@svc/starknet';
import type {
  DeclareTransaction,
  DeployAccountTransaction,
  InvokeTransaction,
  Transaction,
} from '../execution/types.ts';

export interface ReadTransaction {
  readonly tx: Transaction;
  readonly definition?: ContractClass;
}

export function readTransaction(value: unknown, name: string): ReadTransaction {
  const fields = readObject(value, name);
  switch (readChoice(fields.type, `${name}.type`, ['INVOKE', 'DEPLOY_ACCOUNT', 'DECLARE'])) {
    case 'INVOKE':
      return { tx: readInvoke(fields, name) };
    case 'DEPLOY_ACCOUNT':
      return { tx: readDeployAccount(fields, name) };
    case 'DECLARE':
      return readDeclare(fields, name);
  }
}

function readInvoke(fields: Fields, name: string): InvokeTransaction {
  const own = {
    ...readCommon(fields, name),
    sender: readFelt(fields.sender_address, `${name}.sender_address`),
    calldata: readFelts(fields.calldata, `${name}.calldata`),
    accountDeploymentData: readFelts(fields.account_deployment_data, `${name}.account_deployment_data`),
  };
  return withHash({ type: 'INVOKE', ...own }, () => invokeHash(own));
}

function readDeployAccount(fields: Fields, name: string): DeployAccountTransaction {
  const target = {
    classHash: readFelt(fields.class_hash, `${name}.class_hash`),
    salt: readFelt(fields.contract_address_salt, `${name}.contract_address_salt`),
    constructorCalldata: readFelts(fields.constructor_calldata, `${name}.constructor_calldata`),
  };
  const own = { ...readCommon(fields, name), ...target, address: contractAddress({ ...target, deployer: 0n }) };
  return withHash({ type: 'DEPLOY_ACCOUNT', ...own }, () => deployAccountHash(own));
}

/** A broadcast transaction carries the class, a stored one only its hash. */
function readDeclare(fields: Fields, name: string): ReadTransaction {
  const definition =
    fields.contract_class === undefined
      ? undefined
      : readContractClass(fields.contract_class, `${name}.contract_class`);
  const own = {
    ...readCommon(fields, name),
    sender: readFelt(fields.sender_address, `${name}.sender_address`),
    classHash: definition ? classHashOf(definition) : readFelt(fields.class_hash, `${name}.class_hash`),
    compiledClassHash: readFelt(fields.compiled_class_hash, `${name}.compiled_class_hash`),
    accountDeploymentData: readFelts(fields.account_deployment_data, `${name}.account_deployment_data`),
  };
  if (own.compiledClassHash === 0n) throw new FieldError(`${name}.compiled_class_hash must not be 0`);
  const tx: DeclareTransaction = withHash({ type: 'DECLARE', ...own }, () => declareHash(own));
  return definition ? { tx, definition } : { tx };
}

/** Lazy: the hash is expensive, and an estimate without validation does not need it. */
function withHash<Own extends object>(own: Own, compute: () => bigint): Own & { readonly hash: bigint } {
  let hash: bigint | undefined;
  return {
    ...own,
    get hash() {
      hash ??= compute();
      return hash;
    },
  };
}

function readCommon(fields: Fields, name: string): TransactionFields & { readonly signature: readonly bigint[] } {
  const bounds = readObject(fields.resource_bounds, `${name}.resource_bounds`);
  return {
    version: readVersion(fields.version, `${name}.version`),
    chainId: chainIds.SVC_SANDBOX,
    signature: readFelts(fields.signature, `${name}.signature`),
    nonce: readFelt(fields.nonce, `${name}.nonce`),
    tip: readUint(fields.tip, `${name}.tip`, 64),
    resourceBounds: {
      l1Gas: readBounds(bounds.l1_gas, `${name}.resource_bounds.l1_gas`),
      l2Gas: readBounds(bounds.l2_gas, `${name}.resource_bounds.l2_gas`),
      l1DataGas: readBounds(bounds.l1_data_gas, `${name}.resource_bounds.l1_data_gas`),
    },
    paymasterData: readFelts(fields.paymaster_data, `${name}.paymaster_data`),
    nonceDataAvailabilityMode: readMode(fields.nonce_data_availability_mode, `${name}.nonce_data_availability_mode`),
    feeDataAvailabilityMode: readMode(fields.fee_data_availability_mode, `${name}.fee_data_availability_mode`),
  };
}

/** Of a transaction that is only estimated, so that its signature is good for nothing else. */
const QUERY_VERSION = (1n << 128n) + TRANSACTION_VERSION;

function readVersion(value: unknown, name: string): bigint {
  const version = readFelt(value, name);
  if (version === TRANSACTION_VERSION || version === QUERY_VERSION) return version;
  throw new FieldError(`${name} must be ${toHex(TRANSACTION_VERSION)}, or ${toHex(QUERY_VERSION)} in an estimate`);
}

function readBounds(value: unknown, name: string): ResourceBounds {
  const bounds = readObject(value, name);
  return {
    maxAmount: readUint(bounds.max_amount, `${name}.max_amount`, 64),
    maxPricePerUnit: readUint(bounds.max_price_per_unit, `${name}.max_price_per_unit`, 128),
  };
}

function readMode(value: unknown, name: string): 0 | 1 {
  return readChoice(value, name, ['L1', 'L2']) === 'L1' ? 0 : 1;
}

export interface ShownTransaction {
  readonly type: Transaction['type'];
  readonly [field: string]: unknown;
}

export function showTransaction(tx: Transaction): ShownTransaction {
  return { type: tx.type, ...ownFields(tx), ...commonFields(tx) };
}

function ownFields(tx: Transaction): Record<string, unknown> {
  switch (tx.type) {
    case 'INVOKE':
      return {
        sender_address: toHex(tx.sender),
        calldata: tx.calldata.map(toHex),
        account_deployment_data: tx.accountDeploymentData.map(toHex),
      };
    case 'DEPLOY_ACCOUNT':
      return {
        class_hash: toHex(tx.classHash),
        contract_address_salt: toHex(tx.salt),
        constructor_calldata: tx.constructorCalldata.map(toHex),
      };
    case 'DECLARE':
      return {
        sender_address: toHex(tx.sender),
        class_hash: toHex(tx.classHash),
        compiled_class_hash: toHex(tx.compiledClassHash),
        account_deployment_data: tx.accountDeploymentData.map(toHex),
      };
  }
}

function commonFields(tx: Transaction): Record<string, unknown> {
  const { l1Gas, l1DataGas, l2Gas } = tx.resourceBounds;
  return {
    version: toHex(tx.version),
    signature: tx.signature.map(toHex),
    nonce: toHex(tx.nonce),
    resource_bounds: { l1_gas: showBounds(l1Gas), l1_data_gas: showBounds(l1DataGas), l2_gas: showBounds(l2Gas) },
    tip: toHex(tx.tip),
    paymaster_data: tx.paymasterData.map(toHex),
    nonce_data_availability_mode: tx.nonceDataAvailabilityMode === 0 ? 'L1' : 'L2',
    fee_data_availability_mode: tx.feeDataAvailabilityMode === 0 ? 'L1' : 'L2',
  };
}

function showBounds({ maxAmount, maxPricePerUnit }: ResourceBounds) {
  return { max_amount: toHex(maxAmount), max_price_per_unit: toHex(maxPricePerUnit) };
}

const VERSION = '0.1.0';
const MAX_FUNCTION_INDEX = 2 ** 32 - 1;

export interface ContractClass {
  readonly sierra_program: readonly string[];
  readonly contract_class_version: string;
  readonly entry_points_by_type: Readonly<Record<EntryPointType, readonly EntryPoint[]>>;
  readonly abi: string;
}

export interface EntryPoint {
  readonly selector: string;
  readonly function_idx: number;
}

export type EntryPointType = 'CONSTRUCTOR' | 'EXTERNAL' | 'L1_HANDLER';

export function readContractClass(value: unknown, name: string): ContractClass {
  const fields = readObject(value, name);
  if (fields.contract_class_version !== VERSION) {
    throw new FieldError(`${name}.contract_class_version must be ${VERSION}`);
  }
  const abi = fields.abi ?? '';
  if (typeof abi !== 'string') throw new FieldError(`${name}.abi must be a string`);
  const points = readObject(fields.entry_points_by_type, `${name}.entry_points_by_type`);
  const read = (type: EntryPointType) => readEntryPoints(points[type], `${name}.entry_points_by_type.${type}`);
  return {
    sierra_program: readFelts(fields.sierra_program, `${name}.sierra_program`).map(toHex),
    contract_class_version: VERSION,
    entry_points_by_type: {
      CONSTRUCTOR: read('CONSTRUCTOR'),
      EXTERNAL: read('EXTERNAL'),
      L1_HANDLER: read('L1_HANDLER'),
    },
    abi,
  };
}

function readEntryPoints(value: unknown, name: string): EntryPoint[] {
  if (!Array.isArray(value)) throw new FieldError(`${name} must be an array`);
  return value.map((item, index) => {
    const point = readObject(item, `${name}[${index}]`);
    return {
      selector: toHex(readFelt(point.selector, `${name}[${index}].selector`)),
      function_idx: readInteger(point.function_idx, `${name}[${index}].function_idx`, 0, MAX_FUNCTION_INDEX),
    };
  });
}

/** Half a second for a large class, so it runs once per declare transaction. */
export function classHashOf(definition: ContractClass): bigint {
  const { CONSTRUCTOR, EXTERNAL, L1_HANDLER } = definition.entry_points_by_type;
  return poseidonMany([
    shortString('CONTRACT_CLASS_V0.1.0'),
    entryPointsHash(EXTERNAL),
    entryPointsHash(L1_HANDLER),
    entryPointsHash(CONSTRUCTOR),
    starknetKeccak(definition.abi),
    poseidonMany(definition.sierra_program.map(BigInt)),
  ]);
}

function entryPointsHash(points: readonly EntryPoint[]): bigint {
  return poseidonMany(points.flatMap((point) => [BigInt(point.selector), BigInt(point.function_idx)]));
}

export class FieldError extends Error {
  override readonly name = 'FieldError';
}

export type Fields = Readonly<Record<string, unknown>>;

export function readObject(value: unknown, name: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new FieldError(`${name} must be an object`);
}

/** Hex only: a live node refuses decimals. */
export function readFelt(value: unknown, name: string): bigint {
  if (typeof value !== 'string' || !value.startsWith('0x')) throw new FieldError(`${name} must be a felt in hex (0x…)`);
  const felt = parseFelt(value);
  if (!felt.ok) throw new FieldError(`${name} ${felt.reason}`);
  return felt.value;
}

export function readUint(value: unknown, name: string, bits: number): bigint {
  const number = readFelt(value, name);
  if (number >> BigInt(bits) !== 0n) throw new FieldError(`${name} must fit ${bits} bits`);
  return number;
}

export function readFelts(value: unknown, name: string): bigint[] {
  if (!Array.isArray(value)) throw new FieldError(`${name} must be an array of felts`);
  return value.map((item, index) => readFelt(item, `${name}[${index}]`));
}

export function readInteger(value: unknown, name: string, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new FieldError(`${name} must be a whole number from ${min} to ${max}`);
}

export function readChoice<T extends string>(value: unknown, name: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === value);
  if (choice === undefined) throw new FieldError(`${name} must be one of ${choices.join(', ')}`);
  return choice;
}
