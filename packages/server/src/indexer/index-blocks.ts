import type { Db } from '@svc/store';
import type { TransactionRecord } from '../transactions/record.ts';
import { recordsAbove } from '../transactions/record-store.ts';
import {
  beginAt,
  findCursor,
  type IndexerContext,
  KEPT_BLOCKS,
  keepBlocks,
  moveCursor,
  type Place,
  setBehindSince,
} from './cursor.ts';
import { reopenAboveHead, reopenReorgedRelays, rewind, standingOf } from './reorg.ts';
import { type Scanned, scan } from './scan-blocks.ts';
import { failUnconfirmed, markUnconfirmed, recheckSends, storeTransfers } from './store-transfers.ts';

/** A worker has other jobs too; the next run goes on where this one ends. */
const BUDGET_MS = 20_000;
/** Some thousand events of a busy chain, which are read in a few seconds. */
const BLOCKS_PER_RANGE = 50;
/** More than fit the budget: ends what would go round for ever. */
const MAX_TURNS = 1_000;

/** Follows the chain to its head, as far as the time allows. Where nothing is new, the chain is asked once. */
export async function indexChain(follower: IndexerContext, signal: AbortSignal): Promise<void> {
  const endsAt = follower.now() + BUDGET_MS;
  let head: Place | undefined;
  for (let turn = 0; turn < MAX_TURNS && follower.now() < endsAt && !signal.aborted; turn += 1) {
    head = await follower.chain.head();
    if (!(await takeTurn(follower, head))) break;
  }
  await reopenReorgedRelays(follower);
  if (head) await reopenAboveHead(follower, head.number);
  await failUnconfirmed(follower);
}

/** Answers whether there is more to do at once. Everything a turn stores is one transaction, so it may end anywhere. */
async function takeTurn(follower: IndexerContext, head: Place): Promise<boolean> {
  const { db, chainId } = follower;
  const cursor = await findCursor(db, chainId);
  if (!cursor) return begin(follower, head.number);
  const standing = await standingOf(follower, cursor, head);
  if (standing.kind === 'forked') return rewind(follower, cursor, standing.at);
  const isBehind = standing.kind === 'behind';
  if (isBehind !== (cursor.behindSince !== undefined)) {
    await setBehindSince(db, chainId, cursor, isBehind ? new Date(follower.now()) : undefined);
  }
  if (isBehind || head.number === cursor.number) return false;
  const scanned = await scan(follower, cursor, Math.min(head.number, cursor.number + BLOCKS_PER_RANGE));
  return scanned !== undefined && storeBlocks(follower, cursor, scanned);
}

/** What happened before is found when somebody asks for it. An earlier block is kept in case the first ones are taken back. */
async function begin({ db, chain, chainId, log }: IndexerContext, head: number): Promise<boolean> {
  const [earlier, present] = [await chain.block(Math.max(0, head - KEPT_BLOCKS)), await chain.block(head)];
  if (!earlier || !present) return false;
  await db.tx(async (tx) => {
    if (await beginAt(tx, chainId, present))
      await keepBlocks(tx, chainId, earlier.number < head ? [earlier, present] : [present]);
  });
  log.info({ chainId, block: head }, 'following the chain from its latest block');
  return false;
}

/** Stores what was found in some blocks, and that they were followed, together. False when another follower was faster. */
export function storeBlocks(follower: IndexerContext, cursor: Place, scanned: Scanned): Promise<boolean> {
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
    const { ids, added } = await storeTransfers(tx, place, owned);
    const above = await recordsAbove(tx, environment, 'STARKNET', cursor.number);
    const passed = above.filter(({ blockNumber = 0 }) => blockNumber <= end.number);
    await recheckSends(
      tx,
      passed.filter(({ id }) => !added.has(id)),
    );
    await recheckReceives(
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
async function recheckReceives(
  tx: Db,
  { chainId, now }: IndexerContext,
  records: readonly TransactionRecord[],
): Promise<void> {
  const received = records.filter(({ type, status }) => type === 'RECEIVE' && status === 'SUCCESS');
  const places = received.map(({ id, blockNumber = 0 }) => ({ id, blockNumber }));
  await markUnconfirmed(tx, chainId, places, new Date(now()));
}
