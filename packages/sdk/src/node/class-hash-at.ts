import { toHex } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcChainError } from '../client/errors.ts';
import { atNewest } from './at-newest.ts';
import { withNode } from './client-nodes.ts';
import { readFelt } from './read-felts.ts';
import { rpcCodes } from './rpc-answer.ts';

/** The class of the contract at an address; undefined where none stands. */
export async function classHashAt(client: Client, address: bigint): Promise<bigint | undefined> {
  const contract_address = toHex(address);
  const answer = await withNode(client, (ask) =>
    atNewest((block_id) => ask('starknet_getClassHashAt', { block_id, contract_address }, readFelt)),
  );
  if (answer.ok) return answer.value;
  if (answer.code === rpcCodes.contractNotFound) return undefined;
  throw new SvcChainError('call_failed', `The class of ${contract_address} could not be read: ${answer.reason}`);
}
