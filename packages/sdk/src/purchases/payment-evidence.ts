import { chainIds, type OutsideExecution, selector, toHex } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { isObject } from '../client/is-object.ts';
import type { Ask } from '../node/ask-node.ts';
import { withNode } from '../node/client-nodes.ts';
import { readFelt, readFelts } from '../node/read-felts.ts';
import { rpcCodes } from '../node/rpc-answer.ts';
import { chainIdOf } from '../signing/chain-id.ts';

/**
 * - `spent`: the wallet has executed it
 * - `never`: it has not, and its window is over: it never will
 * - `open`: it has not, but still could
 * - `untold`: the wallet does not say, or the node is one of another chain
 */
export type Evidence = 'spent' | 'never' | 'open' | 'untold';

/** When blocks of the last minutes are replaced, a payment may still turn up in them. */
const SETTLED_SECONDS = 600n;

/**
 * Whether a signed payment was executed, from the wallet itself: it spends the nonce of an execution once. One node is asked for its chain, for a block
 * and then for the nonce as of that block, so that a node that lags behind cannot make a payment look undone.
 */
export async function paymentEvidence(client: Client, account: bigint, execution: OutsideExecution): Promise<Evidence> {
  // In the sandbox no block comes unless something happens, and the open one tells the time.
  const chainId = await chainIdOf(client);
  const isSandbox = chainId === chainIds.SVC_SANDBOX;
  return withNode(client, async (ask) => {
    // On another chain the wallet does not stand, and what it has paid would look unpaid.
    const node = await ask('starknet_chainId', [], readFelt);
    if (!node.ok || node.value !== chainId) return 'untold';
    const block = await readBlock(ask, isSandbox ? 'pre_confirmed' : 'latest');
    if (!block) return 'untold';
    const isSpent = await readSpent(ask, account, execution.nonce, block.id);
    if (isSpent === undefined) return 'untold';
    if (isSpent) return 'spent';
    return block.timestamp >= execution.executeBefore + SETTLED_SECONDS ? 'never' : 'open';
  });
}

type BlockId = 'pre_confirmed' | { readonly block_hash: string };

async function readBlock(ask: Ask, tag: 'pre_confirmed' | 'latest') {
  const block = await ask('starknet_getBlockWithTxHashes', { block_id: tag }, (result) => {
    if (!isObject(result) || !Number.isSafeInteger(result.timestamp)) return undefined;
    const timestamp = BigInt(Number(result.timestamp));
    if (tag === 'pre_confirmed') return { id: tag as BlockId, timestamp };
    return typeof result.block_hash === 'string'
      ? { id: { block_hash: result.block_hash } as BlockId, timestamp }
      : undefined;
  });
  return block.ok ? block.value : undefined;
}

/** Undefined when the wallet does not tell. */
async function readSpent(ask: Ask, account: bigint, nonce: bigint, block_id: BlockId): Promise<boolean | undefined> {
  const request = {
    contract_address: toHex(account),
    entry_point_selector: toHex(selector('is_valid_outside_execution_nonce')),
    calldata: [toHex(nonce)],
  };
  const answer = await ask('starknet_call', { request, block_id }, readFelts);
  // A wallet that is not deployed has executed nothing.
  if (!answer.ok) return answer.code === rpcCodes.contractNotFound ? false : undefined;
  const [isValid, ...more] = answer.value;
  if (more.length > 0 || (isValid !== 0n && isValid !== 1n)) return undefined;
  return isValid === 0n;
}
