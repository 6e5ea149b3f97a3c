import type { Follower } from './follower.ts';
import { type Cursor, KEPT_BLOCKS, keptBlocks, type Place } from './store.ts';

/** A node may lag behind another for this long before the chain counts as shorter. */
export const STALE_MS = 10_000;

/**
 * `same`: the chain goes on from where it was followed. `behind`: it ends before that, because a node is stale or the chain has
 * become shorter; what it is, time will tell. `forked`: it went another way after `at`.
 */
export type Standing =
  | { readonly kind: 'same' }
  | { readonly kind: 'behind' }
  | { readonly kind: 'forked'; readonly at: Place };

/** Compares what was followed with the chain as it is now. */
export async function standingOf(follower: Follower, cursor: Cursor, head: Place): Promise<Standing> {
  const { db, chain, chainId } = follower;
  if (head.number >= cursor.number) {
    const block = head.number === cursor.number ? head : await chain.block(cursor.number);
    // Another node than the one that told the head may have answered.
    if (!block) return { kind: 'behind' };
    if (block.hash === cursor.hash) return { kind: 'same' };
    return forkBelow(follower, await keptBlocks(db, chainId, cursor.number - 1), cursor);
  }
  const kept = await keptBlocks(db, chainId, head.number);
  const [top] = kept;
  // Nothing to compare with: a node that is far behind everyone.
  if (!top) return { kind: 'behind' };
  if (!(await stands(follower, top))) return forkBelow(follower, kept.slice(1), cursor);
  const { behindSince } = cursor;
  const patient = behindSince === undefined || follower.now() - behindSince.getTime() < STALE_MS;
  return patient ? { kind: 'behind' } : { kind: 'forked', at: top };
}

/** The last block that is still there; of a block between two that were kept, the lower one. */
async function forkBelow(follower: Follower, kept: readonly Place[], cursor: Place): Promise<Standing> {
  for (const place of kept) {
    if (await stands(follower, place)) return { kind: 'forked', at: place };
  }
  const lowest = kept.at(-1)?.number ?? cursor.number;
  const block = await follower.chain.block(Math.max(0, lowest - KEPT_BLOCKS));
  if (!block) return { kind: 'behind' };
  const { log, chainId } = follower;
  log.error({ chainId, lowest, from: block.number }, 'the chain is another one further back than is remembered');
  return { kind: 'forked', at: block };
}

async function stands({ chain }: Follower, { number, hash }: Place): Promise<boolean> {
  return (await chain.block(number))?.hash === hash;
}
