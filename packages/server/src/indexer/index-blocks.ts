import type { Db } from '@svc/store';
import type { TransactionRecord } from '../transactions/record.ts';
import { recordsAbove } from '../transactions/record-store.ts';
import {
  type BlockRef,
  findCursor,
  type IndexerContext,
  insertCursor,
  MAX_STORED_BLOCKS,
  moveCursor,
  setBehindSince,
  storeBlockHashes,
} from './cursor.ts';
import { compareWithChain, reopenAboveHead, reopenReorgedRelays, rewind } from './reorg.ts';
import { type Scanned, scan } from './scan-blocks.ts';
import { failUnconfirmed, markUnconfirmed, recheckSends, storeTransfers } from './store-transfers.ts';

const BUDGET_MS = 20_000;
const BLOCKS_PER_RANGE = 50;
const MAX_STEPS = 1_000;

/** Reads new blocks up to the head, within the time budget. With nothing new it costs one request. */
export async function indexChain(context: IndexerContext, signal: AbortSignal): Promise<void> {
  const endsAt = context.now() + BUDGET_MS;
  let head: BlockRef | undefined;
  for (let step = 0; step < MAX_STEPS && context.now() < endsAt && !signal.aborted; step += 1) {
    head = await context.chain.head();
    if (!(await runStep(context, head))) break;
  }
  await reopenReorgedRelays(context);
  if (head) await reopenAboveHead(context, head.number);
  await failUnconfirmed(context);
  await context.watcher?.settle(context.environment);
}

/** True when there is more to do. One database transaction, so it may be cut off anywhere. */
async function runStep(context: IndexerContext, head: BlockRef): Promise<boolean> {
  const { db, chainId } = context;
  const cursor = await findCursor(db, chainId);
  if (!cursor) return begin(context, head.number);
  const comparison = await compareWithChain(context, cursor, head);
  if (comparison.kind === 'forked') return rewind(context, cursor, comparison.at);
  const isBehind = comparison.kind === 'behind';
  if (isBehind !== (cursor.behindSince !== undefined)) {
    await setBehindSince(db, chainId, cursor, isBehind ? new Date(context.now()) : undefined);
  }
  if (isBehind || head.number === cursor.number) return false;
  const scanned = await scan(context, cursor, Math.min(head.number, cursor.number + BLOCKS_PER_RANGE));
  return scanned !== undefined && storeBlocks(context, cursor, scanned);
}

/** Earlier transfers are found by sync-on-chain. An earlier block is stored in case the first ones are reorganised. */
async function begin(context: IndexerContext, head: number): Promise<boolean> {
  const { db, chain, chainId, environment, watcher, log } = context;
  const [earlier, present] = [await chain.block(Math.max(0, head - MAX_STORED_BLOCKS)), await chain.block(head)];
  if (!earlier || !present) return false;
  // A watched address may have been shown, and used, before the first run.
  const start = (await watcher?.hasAddresses(db.reads, environment)) ? earlier : present;
  await db.tx(async (tx) => {
    if (await insertCursor(tx, chainId, start))
      await storeBlockHashes(tx, chainId, earlier.number < start.number ? [earlier, start] : [start]);
  });
  log.info({ chainId, block: start.number }, 'indexing starts');
  return start.number < head;
}

/** Transfers and cursor in one transaction. False when another process was faster. */
export function storeBlocks(context: IndexerContext, cursor: BlockRef, scanned: Scanned): Promise<boolean> {
  const { db, chain, chainId, environment, watcher, now, pool } = context;
  const { end, blocks, transfers, wallets, watched } = scanned;
  const owned = transfers.flatMap((transfer) => {
    const owner = wallets.get(transfer.to);
    return owner ? [{ transfer, owner }] : [];
  });
  return db.tx(async (tx) => {
    if (!(await moveCursor(tx, chainId, cursor, end))) return false;
    await storeBlockHashes(tx, chainId, blocks.slice(-MAX_STORED_BLOCKS));
    const place = { environment, chainId: chain.chainId, wallets, wholeBlocks: true, pool };
    const { ids, added } = await storeTransfers(tx, place, owned);
    const above = await recordsAbove(tx, environment, 'STARKNET', cursor.number);
    const passed = above.filter(({ blockNumber = 0 }) => blockNumber <= end.number);
    await recheckSends(
      tx,
      passed.filter(({ id }) => !added.has(id)),
    );
    await recheckReceives(
      tx,
      context,
      passed.filter(({ id }) => !ids.has(id)),
    );
    const range = { environment, chainId, after: cursor.number, upTo: end.number, at: new Date(now()) };
    await watcher?.storeTransfers(
      tx,
      range,
      transfers.filter(({ to }) => watched.has(to)),
    );
    return true;
  });
}

/** Receives in these blocks that the scan did not find: stored by a sync, or reorganised. */
async function recheckReceives(
  tx: Db,
  { chainId, now }: IndexerContext,
  records: readonly TransactionRecord[],
): Promise<void> {
  const received = records.filter(({ type, status }) => type === 'RECEIVE' && status === 'SUCCESS');
  const places = received.map(({ id, blockNumber = 0 }) => ({ id, blockNumber }));
  await markUnconfirmed(tx, chainId, places, new Date(now()));
}
