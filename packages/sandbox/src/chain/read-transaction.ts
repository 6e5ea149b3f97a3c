import {
  chainIds,
  contractAddress,
  declareHash,
  deployAccountHash,
  invokeHash,
  type ResourceBounds,
  type TransactionFields,
} from '@svc/starknet';
import type {
  DeclareTransaction,
  DeployAccountTransaction,
  InvokeTransaction,
  Transaction,
} from '../execution/types.ts';
import { type ContractClass, classHashOf, readContractClass } from './contract-class.ts';
import { FieldError, type Fields, readChoice, readFelt, readFelts, readObject, readUint } from './fields.ts';

export interface ReadTransaction {
  readonly tx: Transaction;
  /** Of a declare transaction that brings its class. */
  readonly definition?: ContractClass;
}

/** Reads a transaction as JSON-RPC spells it, with its hash, and its address or class hash where it has one. */
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

/** A broadcast transaction carries the class, a stored one only the class's hash. */
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

/** Computed when it is first asked for: it costs more than the rest, and an estimate without validation does without. */
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
    version: readFelt(fields.version, `${name}.version`),
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
