import { type Db, sql } from '@svc/store';
import { reopen, reopenRelays } from '../relayer/reopen.ts';
import type { Follower } from './follower.ts';
import { STALE_MS } from './fork.ts';
import { inBatches } from './in-batches.ts';
import { findCursor, holdCursor, keepBlocks, type Place } from './store.ts';

/** Blocks whose events say nothing are few; the rest is asked about next time. */
const MAX_ASKED = 100;

/**
 * Opens relays again that stand in a block which following knows as another one. Their end was read from the chain before
 * following got there, and the chain was reorganised in between.
 */
export async function reopenMisplaced(follower: Follower): Promise<void> {
  const { db, chain, chainId, log } = follower;
  await learnBlocks(follower);
  const reopened = await db.tx((tx) =>
    reopen(
      tx,
      chain.chainId,
      sql`block_number >= (select min(block_number) from followed_blocks where chain_id = ${chainId}) and exists (
        select from followed_blocks as followed
         where followed.chain_id = relays.chain_id and followed.block_number = relays.block_number
           and followed.block_hash <> relays.block_hash)`,
    ),
  );
  if (reopened.length > 0) log.warn({ chainId, relays: reopened.length }, 'relays stood in blocks that are gone');
}

/** The same where the chain became shorter, and has not yet grown again to where a relay stood. */
export async function reopenAboveHead({ db, chain, chainId, now, log }: Follower, head: number): Promise<void> {
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
  log.warn({ chainId, head, relays: reopened.length }, 'relays stood in blocks that are gone');
}

async function setRelaysAboveSince(db: Db, chainId: string, at: Date | undefined): Promise<void> {
  await db.run(sql`update followed_chains set relays_above_since = ${at ?? null} where chain_id = ${chainId}`);
}

/** Where a relay is said to stand in a block that had no transfers when it was followed, its hash is not known yet. */
async function learnBlocks({ db, chain, chainId }: Follower): Promise<void> {
  const cursor = await findCursor(db, chainId);
  if (!cursor) return;
  const rows = await db.rows<{ block_number: bigint }>(sql`
    select distinct block_number from relays
     where chain_id = ${chainId} and block_number <= ${cursor.number}
       and block_number > (select min(block_number) from followed_blocks where chain_id = ${chainId})
       and block_number not in (select block_number from followed_blocks where chain_id = ${chainId})
     limit ${MAX_ASKED}`);
  if (rows.length === 0) return;
  const places: Place[] = [];
  await inBatches(rows, async ({ block_number }) => {
    const block = await chain.block(Number(block_number));
    if (block) places.push(block);
  });
  // While the cursor's block stands, so do those below it.
  if ((await chain.block(cursor.number))?.hash !== cursor.hash) return;
  await db.tx(async (tx) => {
    if ((await holdCursor(tx, chainId))?.hash === cursor.hash) await keepBlocks(tx, chainId, places);
  });
}
