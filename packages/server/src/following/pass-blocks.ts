import type { Db } from '@svc/store';
import type { TransactionRecord } from '../transactions/record.ts';
import { recordsAbove } from '../transactions/records.ts';
import { doubtSends } from './doubt.ts';
import type { Follower } from './follower.ts';
import { keepTransfers } from './keep-transfers.ts';
import type { Scanned } from './scan.ts';
import { KEPT_BLOCKS, keepBlocks, moveCursor, type Place } from './store.ts';
import { markUnconfirmed } from './unconfirmed.ts';

/** Stores what was found in some blocks, and that they were followed, together. False when another follower was faster. */
export function passBlocks(follower: Follower, cursor: Place, scanned: Scanned): Promise<boolean> {
  const { db, chain, chainId, environment } = follower;
  const { end, blocks, transfers, wallets } = scanned;
  const owned = transfers.flatMap((transfer) => {
    const owner = wallets.get(transfer.to);
    return owner ? [{ transfer, owner }] : [];
  });
  return db.tx(async (tx) => {
    if (!(await moveCursor(tx, chainId, cursor, end))) return false;
    await keepBlocks(tx, chainId, blocks.slice(-KEPT_BLOCKS));
    const place = { environment, chainId: chain.chainId, wallets, wholeBlocks: true };
    const { ids, added } = await keepTransfers(tx, place, owned);
    const above = await recordsAbove(tx, environment, 'STARKNET', cursor.number);
    const passed = above.filter(({ blockNumber = 0 }) => blockNumber <= end.number);
    await doubtSends(
      tx,
      passed.filter(({ id }) => !added.has(id)),
    );
    await doubtReceives(
      tx,
      follower,
      passed.filter(({ id }) => !ids.has(id)),
    );
    return true;
  });
}

/**
 * What the history said was received in these blocks, and following has not found there: it was written by a request that was
 * faster, or stood in blocks that were taken back since.
 */
async function doubtReceives(tx: Db, { chainId, now }: Follower, records: readonly TransactionRecord[]): Promise<void> {
  const received = records.filter(({ type, status }) => type === 'RECEIVE' && status === 'SUCCESS');
  const places = received.map(({ id, blockNumber = 0 }) => ({ id, blockNumber }));
  await markUnconfirmed(tx, chainId, places, new Date(now()));
}
