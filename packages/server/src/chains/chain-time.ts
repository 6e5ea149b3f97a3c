import type { StarknetChain } from './starknet/chain.ts';

/** Windows are minutes wide, so a second makes no difference; and every request would ask otherwise. */
const KEPT_MS = 1_000;

/**
 * The time by which a chain judges windows. Blocks may be old where nothing happens, so it is our own clock, unless the latest
 * block is ahead of it: a sandbox can travel in time.
 */
export function chainTime(
  chain: Pick<StarknetChain, 'blockNumber' | 'block'>,
  now: () => number = Date.now,
): () => Promise<Date> {
  let asked = Number.NEGATIVE_INFINITY;
  let aheadMs: Promise<number> = Promise.resolve(0);
  return async () => {
    if (now() - asked >= KEPT_MS) {
      asked = now();
      aheadMs = aheadOf(chain, now);
      aheadMs.catch(() => {
        asked = Number.NEGATIVE_INFINITY;
      });
    }
    return new Date(now() + (await aheadMs));
  };
}

async function aheadOf(chain: Pick<StarknetChain, 'blockNumber' | 'block'>, now: () => number): Promise<number> {
  const block = await chain.block(await chain.blockNumber());
  return Math.max(0, (block?.timestamp.getTime() ?? 0) - now());
}
