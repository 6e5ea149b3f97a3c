import type { Client } from '../client/client.ts';
import { SvcChainError } from '../client/errors.ts';
import { isObject } from '../client/is-object.ts';
import { atNewest } from './at-newest.ts';
import { withNode } from './client-nodes.ts';

/** The chain's clock in Unix seconds: the time of the block that is being filled, by which contracts judge. */
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
