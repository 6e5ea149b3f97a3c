import { reopenRelays } from '../relayer/reopen.ts';
import { recordsAbove } from '../transactions/records.ts';
import { doubtSends } from './doubt.ts';
import type { Follower } from './follower.ts';
import { forgetBlocksAbove, keepBlocks, moveCursor, type Place } from './store.ts';

/**
 * The chain went another way after a block: following goes on from there. What was received above it counts as it is until the
 * blocks that have taken the place of its own are followed. False when another follower was faster.
 */
export async function rewind(follower: Follower, cursor: Place, fork: Place): Promise<boolean> {
  const { db, chain, chainId, environment, log } = follower;
  const rewound = await db.tx(async (tx) => {
    if (!(await moveCursor(tx, chainId, cursor, fork))) return false;
    await forgetBlocksAbove(tx, chainId, fork.number);
    await keepBlocks(tx, chainId, [fork]);
    await reopenRelays(tx, chain.chainId, fork.number);
    await doubtSends(tx, await recordsAbove(tx, environment, 'STARKNET', fork.number));
    return true;
  });
  if (rewound) log.warn({ chainId, from: cursor.number, to: fork.number }, 'the chain was reorganised');
  return rewound;
}
