import { type Db, sql } from '@svc/store';
import { reopen, reopenRelays } from '../relayer/relay-store.ts';
import type { TransactionRecord } from '../transactions/record.ts';
import { recordsAbove } from '../transactions/record-store.ts';
import { inBatches } from '../util/semaphore.ts';
import {
  type BlockRef,
  type Cursor,
  deleteBlocksAbove,
  findBlockHashes,
  findCursor,
  type IndexerContext,
  insertCursor,
  lockCursor,
  MAX_STORED_BLOCKS,
  moveCursor,
  setBehindSince,
  storeBlockHashes,
} from './indexer.ts';
import { type Scanned, scan } from './scan-blocks.ts';
import { failUnconfirmed, markUnconfirmed, recheckSends, storeTransfers } from './store-transfers.ts';

/** How long a node may lag before the chain counts as shorter. */
export const STALE_MS = 10_000;

/** `behind`: the chain ends below the cursor, because a node is stale or the chain became shorter. `forked`: it differs after `at`. */
type ChainComparison =
  | { readonly kind: 'same' }
  | { readonly kind: 'behind' }
  | { readonly kind: 'forked'; readonly at: BlockRef };

async function compareWithChain(context: IndexerContext, cursor: Cursor, head: BlockRef): Promise<ChainComparison> {
  const { db, chain, chainId } = context;
  if (head.number >= cursor.number) {
    const block = head.number === cursor.number ? head : await chain.block(cursor.number);
    if (!block) return { kind: 'behind' };
    if (block.hash === cursor.hash) return { kind: 'same' };
    return forkBelow(context, await findBlockHashes(db, chainId, cursor.number - 1), cursor);
  }
  const stored = await findBlockHashes(db, chainId, head.number);
  const [top] = stored;
  if (!top) return { kind: 'behind' };
  if (!(await isOnChain(context, top))) return forkBelow(context, stored.slice(1), cursor);
  const { behindSince } = cursor;
  const isRecent = behindSince === undefined || context.now() - behindSince.getTime() < STALE_MS;
  return isRecent ? { kind: 'behind' } : { kind: 'forked', at: top };
}

async function forkBelow(
  context: IndexerContext,
  stored: readonly BlockRef[],
  cursor: BlockRef,
): Promise<ChainComparison> {
  for (const block of stored) {
    if (await isOnChain(context, block)) return { kind: 'forked', at: block };
  }
  const lowest = stored.at(-1)?.number ?? cursor.number;
  const block = await context.chain.block(Math.max(0, lowest - MAX_STORED_BLOCKS));
  if (!block) return { kind: 'behind' };
  const { log, chainId } = context;
  log.error({ chainId, lowest, from: block.number }, 'reorg deeper than the stored blocks');
  return { kind: 'forked', at: block };
}

async function isOnChain({ chain }: IndexerContext, { number, hash }: BlockRef): Promise<boolean> {
  return (await chain.block(number))?.hash === hash;
}

/** Moves the cursor back. Receives above it stay as they are until the new blocks are read. False when another process was faster. */
export async function rewind(context: IndexerContext, cursor: BlockRef, fork: BlockRef): Promise<boolean> {
  const { db, chain, chainId, environment, watcher, now, log } = context;
  const rewound = await db.tx(async (tx) => {
    if (!(await moveCursor(tx, chainId, cursor, fork))) return false;
    await deleteBlocksAbove(tx, chainId, fork.number);
    await storeBlockHashes(tx, chainId, [fork]);
    await reopenRelays(tx, chain.chainId, fork.number);
    await recheckSends(tx, await recordsAbove(tx, environment, 'STARKNET', fork.number));
    await watcher?.rewind(tx, { environment, chainId, after: fork.number, at: new Date(now()) });
    return true;
  });
  if (rewound) log.warn({ chainId, from: cursor.number, to: fork.number }, 'chain reorganised, cursor moved back');
  return rewound;
}

const MAX_ASKED = 100;

/** Reopens relays whose receipt was read before a reorganisation replaced their block, and those above it whose blocks are not known yet. */
async function reopenReorgedRelays(context: IndexerContext): Promise<void> {
  const { db, chain, chainId, log } = context;
  await fetchBlockHashes(context);
  const reopened = await db.tx((tx) =>
    reopen(
      tx,
      chain.chainId,
      sql`block_number >= (
          select min(replaced.block_number) from relays as replaced
            join followed_blocks as followed
              on followed.chain_id = replaced.chain_id and followed.block_number = replaced.block_number
           where replaced.chain_id = ${chainId} and followed.block_hash <> replaced.block_hash
             and replaced.block_number >= (select min(block_number) from followed_blocks where chain_id = ${chainId}))
        and not exists (
          select from followed_blocks as followed
           where followed.chain_id = relays.chain_id and followed.block_number = relays.block_number
             and followed.block_hash = relays.block_hash)`,
    ),
  );
  if (reopened.length > 0) log.warn({ chainId, relays: reopened.length }, 'relays reopened after a reorganisation');
}

/** The same for a chain that became shorter and has not reached the relay's block again. */
async function reopenAboveHead({ db, chain, chainId, now, log }: IndexerContext, head: number): Promise<void> {
  const row = await db.one<{ since: Date | null; above: boolean }>(sql`
    select relays_above_since as since,
           exists (select from relays where relays.chain_id = ${chainId} and block_number > ${head}) as above
      from followed_chains where chain_id = ${chainId}`);
  if (!row) return;
  const { since, above } = row;
  if (above !== (since !== null)) await setRelaysAboveSince(db, chainId, above ? new Date(now()) : undefined);
  if (!above || since === null || now() - since.getTime() < STALE_MS) return;
  const reopened = await db.tx(async (tx) => {
    await setRelaysAboveSince(tx, chainId, undefined);
    return reopenRelays(tx, chain.chainId, head);
  });
  log.warn({ chainId, head, relays: reopened.length }, 'relays reopened after a reorganisation');
}

async function setRelaysAboveSince(db: Db, chainId: string, at: Date | undefined): Promise<void> {
  await db.run(sql`update followed_chains set relays_above_since = ${at ?? null} where chain_id = ${chainId}`);
}

/** Reads the hashes of blocks without transfers, which the scan did not see. */
async function fetchBlockHashes({ db, chain, chainId }: IndexerContext): Promise<void> {
  const cursor = await findCursor(db, chainId);
  if (!cursor) return;
  const rows = await db.rows<{ block_number: bigint }>(sql`
    select distinct block_number from relays
     where chain_id = ${chainId} and block_number <= ${cursor.number}
       and block_number > (select min(block_number) from followed_blocks where chain_id = ${chainId})
       and block_number not in (select block_number from followed_blocks where chain_id = ${chainId})
     limit ${MAX_ASKED}`);
  if (rows.length === 0) return;
  const blocks: BlockRef[] = [];
  await inBatches(rows, async ({ block_number }) => {
    const block = await chain.block(Number(block_number));
    if (block) blocks.push(block);
  });
  // While the cursor's block stands, all below it do.
  if ((await chain.block(cursor.number))?.hash !== cursor.hash) return;
  await db.tx(async (tx) => {
    if ((await lockCursor(tx, chainId))?.hash === cursor.hash) await storeBlockHashes(tx, chainId, blocks);
  });
}

const BUDGET_MS = 20_000;
const BLOCKS_PER_RANGE = 50;
const MAX_STEPS = 1_000;

/** With the same head, time alone changes what is to do: what is not confirmed in time, and relays that ended meanwhile. */
const UNCHANGED_PASS_MS = 5_000;

/** Indexes a chain again and again. A look at a head that was seen before costs one request, and no statement for some seconds. */
export function chainIndexer(contextOf: () => IndexerContext): (signal: AbortSignal) => Promise<void> {
  let last: { readonly hash: bigint; readonly at: number } | undefined;
  return async (signal) => {
    const context = contextOf();
    const head = await context.chain.head();
    const at = context.now();
    if (last && last.hash === head.hash && at - last.at < UNCHANGED_PASS_MS) return;
    last = undefined;
    const reached = await indexChain(context, signal, head);
    last = reached && { hash: reached.hash, at };
  };
}

/** Reads new blocks up to the head, within the time budget. Answers the head if it was reached. */
export async function indexChain(
  context: IndexerContext,
  signal: AbortSignal,
  first?: BlockRef,
): Promise<BlockRef | undefined> {
  const endsAt = context.now() + BUDGET_MS;
  let head = first;
  let left: Left = 'more';
  for (let step = 0; step < MAX_STEPS && context.now() < endsAt && !signal.aborted; step += 1) {
    head = step === 0 && first ? first : await context.chain.head();
    left = await runStep(context, head);
    if (left !== 'more') break;
  }
  await reopenReorgedRelays(context);
  if (head) await reopenAboveHead(context, head.number);
  await failUnconfirmed(context);
  await context.watcher?.settle(context.environment);
  return left === 'nothing' ? head : undefined;
}

/** `unknown`: the chain ends below the cursor, or another process was faster. */
type Left = 'more' | 'nothing' | 'unknown';

/** One database transaction, so it may be cut off anywhere. */
async function runStep(context: IndexerContext, head: BlockRef): Promise<Left> {
  const { db, chainId } = context;
  const cursor = await findCursor(db, chainId);
  if (!cursor) return (await begin(context, head.number)) ? 'more' : 'unknown';
  const comparison = await compareWithChain(context, cursor, head);
  if (comparison.kind === 'forked') return (await rewind(context, cursor, comparison.at)) ? 'more' : 'unknown';
  const isBehind = comparison.kind === 'behind';
  if (isBehind !== (cursor.behindSince !== undefined)) {
    await setBehindSince(db, chainId, cursor, isBehind ? new Date(context.now()) : undefined);
  }
  if (isBehind) return 'unknown';
  if (head.number === cursor.number) return 'nothing';
  const scanned = await scan(context, cursor, Math.min(head.number, cursor.number + BLOCKS_PER_RANGE));
  return scanned && (await storeBlocks(context, cursor, scanned)) ? 'more' : 'unknown';
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
function storeBlocks(context: IndexerContext, cursor: BlockRef, scanned: Scanned): Promise<boolean> {
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
