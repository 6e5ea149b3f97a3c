import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import type { ContractClass } from '../chain/contract-class.ts';
import { readFelt, readFelts, readObject } from '../chain/fields.ts';
import { stateAt } from '../chain/state-at.ts';
import { contractOf } from '../contracts/registry.ts';
import { callContract } from '../execution/call.ts';
import type { StateReader } from '../execution/types.ts';
import { callBlock } from './block-context.ts';
import { blockOf } from './block-id.ts';
import type { CallContext, Method } from './context.ts';
import { nativeClass } from './native-class.ts';
import { rpcErrors } from './rpc-error.ts';

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
    throw rpcErrors.entrypointNotFound(`Entry point ${toHex(selector)} not found in contract`);
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
