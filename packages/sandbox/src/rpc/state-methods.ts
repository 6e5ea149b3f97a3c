import { readFileSync } from 'node:fs';
import path from 'node:path';
import { classes, selector, toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { stateAt } from '../chain/state.ts';
import { type ContractClass, readFelt, readFelts, readObject } from '../chain/transaction.ts';
import type { Contract } from '../contracts/contract.ts';
import { contractOf } from '../contracts/genesis.ts';
import { callContract } from '../execution/execute.ts';
import type { StateReader } from '../execution/types.ts';
import { blockOf, type CallContext, callBlock, type Method, rpcErrors } from './context.ts';

const getNonce: Method = {
  params: ['block_id', 'contract_address'],
  async run(context, { block_id, contract_address }) {
    const address = readFelt(contract_address, 'contract_address');
    const state = await stateOf(context, block_id);
    await classHashAt(state, address);
    return toHex(await state.nonceAt(address));
  },
};

const getStorageAt: Method = {
  params: ['contract_address', 'key', 'block_id'],
  async run(context, { contract_address, key, block_id }) {
    const address = readFelt(contract_address, 'contract_address');
    const slot = readFelt(key, 'key');
    const state = await stateOf(context, block_id);
    await classHashAt(state, address);
    return toHex(await state.storageAt(address, slot));
  },
};

const getClassHashAt: Method = {
  params: ['block_id', 'contract_address'],
  async run(context, { block_id, contract_address }) {
    const address = readFelt(contract_address, 'contract_address');
    return toHex(await classHashAt(await stateOf(context, block_id), address));
  },
};

const getClass: Method = {
  params: ['block_id', 'class_hash'],
  async run(context, { block_id, class_hash }) {
    const classHash = readFelt(class_hash, 'class_hash');
    return classOf(context, await stateOf(context, block_id), classHash);
  },
};

const getClassAt: Method = {
  params: ['block_id', 'contract_address'],
  async run(context, { block_id, contract_address }) {
    const address = readFelt(contract_address, 'contract_address');
    const state = await stateOf(context, block_id);
    return classOf(context, state, await classHashAt(state, address));
  },
};

const call: Method = {
  params: ['request', 'block_id'],
  async run(context, { request, block_id }) {
    const fields = readObject(request, 'request');
    const block = await blockOf(context, block_id);
    const to = readFelt(fields.contract_address, 'request.contract_address');
    const selector = readFelt(fields.entry_point_selector, 'request.entry_point_selector');
    const calldata = readFelts(fields.calldata, 'request.calldata');
    const state = stateAt(context.reads, context.cache, block.version);
    const outcome = await callContract(state, callBlock(context, block), { to, selector, calldata });
    if (outcome.ok) return outcome.result.map(toHex);
    if (outcome.kind === 'CONTRACT_NOT_FOUND') throw rpcErrors.contractNotFound();
    if (outcome.kind === 'REVERTED') throw rpcErrors.contractError(outcome.error);
    throw rpcErrors.entrypointNotFound();
  },
};

async function stateOf(context: CallContext, blockId: unknown): Promise<StateReader> {
  return stateAt(context.reads, context.cache, (await blockOf(context, blockId)).version);
}

async function classHashAt(state: StateReader, address: bigint): Promise<bigint> {
  const classHash = await state.classHashAt(address);
  if (classHash === 0n) throw rpcErrors.contractNotFound();
  return classHash;
}

async function classOf({ reads }: CallContext, state: StateReader, classHash: bigint): Promise<ContractClass> {
  const native = contractOf(classHash);
  if (native) return nativeClass(native);
  if (!(await state.isDeclared(classHash))) throw rpcErrors.classHashNotFound();
  const row = await reads.one<{ definition: ContractClass }>(sql`
    select definition from sandbox.classes where hash = ${toHex(classHash)}`);
  if (!row) throw rpcErrors.classHashNotFound();
  return row.definition;
}

export const stateMethods: Record<string, Method> = {
  starknet_getNonce: getNonce,
  starknet_getStorageAt: getStorageAt,
  starknet_getClassHashAt: getClassHashAt,
  starknet_getClass: getClass,
  starknet_getClassAt: getClassAt,
  starknet_call: call,
};

/** Most native contracts have no Sierra; clients only check that the field exists. */
const NO_PROGRAM = ['0x1', '0x6', '0x0'];

const nativeClasses = new Map<bigint, ContractClass>();

export function nativeClass(contract: Contract): ContractClass {
  if (contract.classHash === classes.svc) return compiledSvcAccount();
  if (contract.classHash === classes.treasury) return compiledTreasury();
  const known = nativeClasses.get(contract.classHash);
  if (known) return known;
  const external = [...contract.entrypoints.keys()].sort((a, b) => (a < b ? -1 : 1));
  const definition: ContractClass = {
    sierra_program: NO_PROGRAM,
    contract_class_version: '0.1.0',
    entry_points_by_type: {
      CONSTRUCTOR: contract.construct
        ? [{ selector: toHex(selector('constructor')), function_idx: external.length }]
        : [],
      EXTERNAL: external.map((one, index) => ({ selector: toHex(one), function_idx: index })),
      L1_HANDLER: [],
    },
    abi: JSON.stringify(contract.abi),
  };
  nativeClasses.set(contract.classHash, definition);
  return definition;
}

/** Compiler output; `npm run contracts` compares it with the source. */
const COMPILED = path.resolve(import.meta.dirname, '../../../../contracts/compiled');

/** Sierra and ABI of the live network, so the class hash that a client computes matches. */
export const compiledSvcAccount = () => compiledClass('svc_account.json');
export const compiledTreasury = () => compiledClass('svc_treasury.json');

const compiledClasses = new Map<string, ContractClass>();

function compiledClass(file: string): ContractClass {
  const known = compiledClasses.get(file);
  if (known) return known;
  const read = withAbiText(JSON.parse(readFileSync(path.join(COMPILED, file), 'utf8')));
  compiledClasses.set(file, read);
  return read;
}

/** The compiler writes the ABI as JSON; on the wire and in the hash it is a text with a space after each colon and comma. */
function withAbiText(written: Omit<ContractClass, 'abi'> & { abi: unknown }): ContractClass {
  return { ...written, abi: spacedJson(written.abi) };
}

function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${spacedJson(member)}`);
  return `{${members.join(', ')}}`;
}
