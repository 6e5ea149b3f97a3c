import { selector, toHex } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcChainError } from '../client/errors.ts';
import { isObject } from '../client/values.ts';
import { atNewest, type RpcRefusal, readFelt, readFelts, rpcCodes, withNode } from './rpc.ts';

export interface ViewCall {
  readonly contractAddress: bigint;
  readonly entrypoint: string;
  readonly calldata: readonly bigint[];
}

/** Calls a view function at the newest block. Errors of the chain are `SvcChainError`. */
export async function callContract(client: Client, call: ViewCall): Promise<bigint[]> {
  const request = {
    contract_address: toHex(call.contractAddress),
    entry_point_selector: toHex(selector(call.entrypoint)),
    calldata: call.calldata.map(toHex),
  };
  const answer = await withNode(client, (ask) =>
    atNewest((block_id) => ask('starknet_call', { request, block_id }, readFelts)),
  );
  if (answer.ok) return answer.value;
  throw refused(call, answer);
}

function refused({ contractAddress, entrypoint }: ViewCall, { code, reason }: RpcRefusal): SvcChainError {
  const address = toHex(contractAddress);
  if (code === rpcCodes.contractNotFound)
    return new SvcChainError('contract_not_found', `No contract stands at ${address} yet.`);
  if (code === rpcCodes.entrypointNotFound || /ENTRYPOINT_NOT_FOUND/.test(reason)) {
    return new SvcChainError('entrypoint_not_found', `The contract at ${address} has no function ${entrypoint}.`);
  }
  return new SvcChainError('call_failed', `${entrypoint} of ${address} failed: ${reason}`);
}

/** Unix seconds of the block in progress, which contracts use as the time. */
export async function chainTime(client: Client): Promise<bigint> {
  const answer = await withNode(client, (ask) =>
    atNewest((block_id) => ask('starknet_getBlockWithTxHashes', { block_id }, readTimestamp)),
  );
  if (answer.ok) return answer.value;
  throw new SvcChainError('call_failed', `The time of the chain could not be read: ${answer.reason}`);
}

function readTimestamp(block: unknown): bigint | undefined {
  if (!isObject(block) || !Number.isSafeInteger(block.timestamp)) return undefined;
  return BigInt(Number(block.timestamp));
}

/** Undefined if no contract is deployed at the address. */
export async function classHashAt(client: Client, address: bigint): Promise<bigint | undefined> {
  const contract_address = toHex(address);
  const answer = await withNode(client, (ask) =>
    atNewest((block_id) => ask('starknet_getClassHashAt', { block_id, contract_address }, readFelt)),
  );
  if (answer.ok) return answer.value;
  if (answer.code === rpcCodes.contractNotFound) return undefined;
  throw new SvcChainError('call_failed', `The class of ${contract_address} could not be read: ${answer.reason}`);
}
