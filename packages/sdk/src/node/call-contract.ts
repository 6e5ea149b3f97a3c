import { selector, toHex } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcChainError } from '../client/errors.ts';
import { atNewest } from './at-newest.ts';
import { withNode } from './client-nodes.ts';
import { readFelts } from './read-felts.ts';
import { type RpcRefusal, rpcCodes } from './rpc-answer.ts';

export interface ViewCall {
  readonly contractAddress: bigint;
  readonly entrypoint: string;
  readonly calldata: readonly bigint[];
}

/** Reads from a contract, as the chain is at this moment. A no of the chain is a `SvcChainError`. */
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
