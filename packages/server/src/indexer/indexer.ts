import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { StarknetChain, Transfer } from '../chains/starknet/chain.ts';
import type { Token } from '../chains/tokens.ts';
import type { JobLog } from '../jobs/job.ts';

export interface WatchedTransfer extends Transfer {
  readonly known: Token;
  readonly transactionHash: bigint;
  readonly blockNumber: number;
  readonly blockHash: bigint;
}

export interface BlockRange {
  readonly environment: Environment;
  readonly chainId: string;
  readonly after: number;
  readonly upTo?: number;
  readonly at: Date;
}

/** Follows transfers to addresses that are no wallets. */
export interface TransferWatcher {
  /** With addresses to watch, the first run reads recent blocks, too. */
  hasAddresses(reads: Reads, environment: Environment): Promise<boolean>;
  watchedAmong(
    reads: Reads,
    environment: Environment,
    transfers: readonly WatchedTransfer[],
  ): Promise<ReadonlySet<bigint>>;
  /** Gets every transfer to watched addresses in the blocks of the range. Runs in the transaction that moves the cursor. */
  storeTransfers(tx: Db, range: BlockRange, transfers: readonly WatchedTransfer[]): Promise<void>;
  /** The blocks of the range are gone. Runs in the transaction that moves the cursor back. */
  rewind(tx: Db, range: BlockRange): Promise<void>;
  settle(environment: Environment): Promise<void>;
}

export interface BlockRef {
  readonly number: number;
  readonly hash: bigint;
}

export interface Cursor extends BlockRef {
  /** Since when the chain ends below it. */
  readonly behindSince: Date | undefined;
}

/** Deeper reorganisations are not expected of a centrally sequenced chain. */
export const MAX_STORED_BLOCKS = 200;

interface PlaceRow {
  readonly block_number: bigint;
  readonly block_hash: string;
}

const blockRefOf = (row: PlaceRow): BlockRef => ({ number: Number(row.block_number), hash: BigInt(row.block_hash) });

export async function findCursor(db: Db, chainId: string): Promise<Cursor | undefined> {
  const row = await db.one<PlaceRow & { behind_since: Date | null }>(sql`
    select block_number, block_hash, behind_since from followed_chains where chain_id = ${chainId}`);
  return row && { ...blockRefOf(row), behindSince: row.behind_since ?? undefined };
}

export async function insertCursor(tx: Db, chainId: string, { number, hash }: BlockRef): Promise<boolean> {
  const begun = await tx.run(sql`
    insert into followed_chains (chain_id, block_number, block_hash) values (${chainId}, ${number}, ${toHex(hash)})
    on conflict do nothing`);
  return begun === 1;
}

/** False when another process moved it. Locks it until the transaction ends. */
export async function moveCursor(tx: Db, chainId: string, from: BlockRef, to: BlockRef): Promise<boolean> {
  const moved = await tx.run(sql`
    update followed_chains set block_number = ${to.number}, block_hash = ${toHex(to.hash)}, behind_since = null
     where chain_id = ${chainId} and block_number = ${from.number} and block_hash = ${toHex(from.hash)}`);
  return moved === 1;
}

export async function lockCursor(tx: Db, chainId: string): Promise<BlockRef | undefined> {
  const row = await tx.one<PlaceRow>(sql`
    select block_number, block_hash from followed_chains where chain_id = ${chainId} for update`);
  return row && blockRefOf(row);
}

export async function setBehindSince(db: Db, chainId: string, { number, hash }: BlockRef, at?: Date): Promise<void> {
  await db.run(sql`
    update followed_chains set behind_since = ${at ?? null}
     where chain_id = ${chainId} and block_number = ${number} and block_hash = ${toHex(hash)}`);
}

export async function storeBlockHashes(tx: Db, chainId: string, places: readonly BlockRef[]): Promise<void> {
  const numbers = places.map(({ number }) => number);
  const hashes = places.map(({ hash }) => toHex(hash));
  await tx.run(sql`
    insert into followed_blocks (chain_id, block_number, block_hash)
    select ${chainId}, number, hash from unnest(${numbers}::bigint[], ${hashes}::text[]) as place (number, hash)
    on conflict (chain_id, block_number) do update set block_hash = excluded.block_hash`);
  await tx.run(sql`
    delete from followed_blocks
     where chain_id = ${chainId} and block_number < (
       select block_number from followed_blocks where chain_id = ${chainId}
        order by block_number desc offset ${MAX_STORED_BLOCKS - 1} limit 1)`);
}

export async function deleteBlocksAbove(tx: Db, chainId: string, number: number): Promise<void> {
  await tx.run(sql`delete from followed_blocks where chain_id = ${chainId} and block_number > ${number}`);
}

export async function findBlockHashes(db: Db, chainId: string, upTo: number): Promise<BlockRef[]> {
  const rows = await db.rows<PlaceRow>(sql`
    select block_number, block_hash from followed_blocks
     where chain_id = ${chainId} and block_number <= ${upTo} order by block_number desc limit ${MAX_STORED_BLOCKS}`);
  return rows.map(blockRefOf);
}

export interface IndexedChain {
  readonly environment: Environment;
  readonly chain: StarknetChain;
  readonly chainId: string;
  readonly tokens: ReadonlyMap<bigint, Token>;
  /** The address of the private pool. */
  readonly pool?: string | undefined;
}

export interface IndexerContext extends IndexedChain {
  readonly db: Database;
  readonly now: () => number;
  readonly log: JobLog;
  readonly watcher?: TransferWatcher | undefined;
}

export function indexedChain(networks: Pick<Networks, 'starknet'>, environment: Environment): IndexedChain {
  const { chain, tokens: known, pool } = networks.starknet(environment);
  const tokens = known.map((token) => [BigInt(token.address ?? 0), token] as const);
  return { environment, chain, chainId: toHex(chain.chainId), tokens: new Map(tokens), pool: pool?.address };
}
