import { chainIds } from '@svc/starknet';
import { type Block, openBlock } from '../chain/find-block.ts';
import { predeployed } from '../contracts/predeployed.ts';
import type { BlockContext } from '../execution/types.ts';
import type { CallContext } from './context.ts';

/**
 * What a call sees as its block. Where blocks are instant the latest one may be hours old, and a live chain's never is:
 * so a call on it sees the present time.
 */
export function callBlock(context: CallContext, block: Block): BlockContext {
  const present = context.head.blockSeconds === 0 && block.number === context.head.number;
  return contextOf(block.number, present ? openBlock(context.head, context.now()).timestamp : block.timestamp);
}

/** What an estimated transaction sees: on the latest block, the one that would come next. */
export function estimationBlock(context: CallContext, block: Block): BlockContext {
  if (block.number < context.head.number) return contextOf(block.number, block.timestamp);
  const next = openBlock(context.head, context.now());
  return contextOf(next.number, next.timestamp);
}

export function contextOf(number: number, timestamp: number): BlockContext {
  return {
    number: BigInt(number),
    timestamp: BigInt(timestamp),
    sequencer: predeployed.sequencer.address,
    chainId: chainIds.SVC_SANDBOX,
  };
}
