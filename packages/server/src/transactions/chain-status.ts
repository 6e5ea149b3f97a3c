import type { AnswerOf, endpoints } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Reads } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { StarknetChain } from '../chains/starknet/chain.ts';
import type { Caller } from '../http/caller.ts';
import { findRelayByHash } from '../relayer/find-relay.ts';
import type { Relay } from '../relayer/relay.ts';
import { refuse } from '../wallets/fields.ts';
import { parseStarknetHash } from './hashes.ts';

type Answer = AnswerOf<typeof endpoints.getTransactionStatus>;

export interface StatusParts {
  readonly reads: Reads;
  readonly networks: Pick<Networks, 'starknet'>;
}

/** What the chain says of a transaction, and what we know of our own where the chain has not heard of it. */
export async function chainStatus({ reads, networks }: StatusParts, caller: Caller, text: string): Promise<Answer> {
  const hash = parseStarknetHash(text);
  if (!hash.ok) refuse('path.hash', hash.reason);
  const { chain } = networks.starknet(caller.environment);
  const onChain = await ask(chain, hash.value);
  if (onChain.status !== 'NOT_RECEIVED') return onChain;
  const relay = await findRelayByHash(reads, chain.chainId, hash.value);
  if (!relay) return onChain;
  const isReplaced = relay.hash !== undefined && relay.hash !== hash.value && relay.state !== 'VOIDED';
  if (!isReplaced) return ofRelay(relay, hash.value);
  const other = await ask(chain, relay.hash);
  return other.status === 'NOT_RECEIVED' ? ofRelay(relay, relay.hash) : other;
}

async function ask(chain: StarknetChain, hash: bigint): Promise<Answer> {
  // The receipt tells the block, too; before there is one, only the status knows of the transaction.
  const { status, revertReason, blockNumber } = (await chain.receipt(hash)) ?? {
    ...(await chain.transactionStatus(hash)),
    blockNumber: undefined,
  };
  return answer(hash, status, blockNumber, revertReason);
}

/** A node that does not know the transaction has not got it yet, has lost it, or is behind. */
function ofRelay({ state, blockNumber, revertReason }: Relay, hash: bigint): Answer {
  if (state === 'VOIDED') return answer(hash, 'REJECTED', undefined, undefined);
  if (state === 'SUCCEEDED') return answer(hash, 'ACCEPTED_ON_L2', blockNumber, undefined);
  if (state === 'REVERTED') return answer(hash, 'REVERTED', blockNumber, revertReason ?? '');
  return answer(hash, 'RECEIVED', undefined, undefined);
}

function answer(
  hash: bigint,
  status: Answer['status'],
  blockNumber: number | undefined,
  revertReason: string | undefined,
): Answer {
  return {
    transactionHash: toHex(hash),
    status,
    ...(blockNumber !== undefined && { blockNumber }),
    ...(revertReason !== undefined && { revertReason }),
  };
}
