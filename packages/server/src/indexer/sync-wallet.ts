import { ApiError, type ChainToken } from '@svc/protocol';
import type { Database, Db } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { type EmittedEvent, TRANSFER_SELECTOR, type Transfer } from '../chains/starknet/chain.ts';
import type { Token } from '../chains/tokens.ts';
import { createSemaphore, QueueFullError } from '../util/semaphore.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import { type BlockRef, findBlockHashes, type IndexedChain, indexedChain, lockCursor } from './indexer.ts';
import {
  EVENTS_PER_PAGE,
  type EventTransfer,
  ownWallets,
  type PlacedTransfer,
  placeTransfers,
  type TimedTransfer,
  timeTransfers,
  transfersOf,
} from './scan-blocks.ts';
import { knownRecords, storeTransfers } from './store-transfers.ts';

/** 50,000 transfers per direction, about a minute for a node. */
const MAX_PAGES = 50;
const MAX_ADDED = 1_000;

export interface SyncDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
}

export interface Synced {
  readonly synced: number;
  readonly total: number;
}

/** Nodes filter by event keys only: transfers with the parties in their data (StarkGate before SNIP-13) are found by the block scan alone. */
export async function syncWallet({ db, networks }: SyncDeps, wallet: WalletRecord): Promise<Synced> {
  const indexed = indexedChain(networks, wallet.environment);
  const address = BigInt(wallet.address);
  const sequencers = new Set<bigint>();
  addSequencer(sequencers, (await indexed.chain.block('latest'))?.sequencer);
  let [synced, total] = [0, 0];
  const add = async (events: readonly EmittedEvent[], counts: (transfer: EventTransfer) => boolean) => {
    const placed = await placeTransfers(indexed.chain, transfersOf(events, indexed.tokens).filter(counts));
    synced += await addMissing(db, indexed, wallet, placed, { limit: MAX_ADDED - synced, sequencers });
    total += placed.filter(counts).length;
  };
  const sent = pagesOf(indexed, [[TRANSFER_SELECTOR], [address]]);
  for await (const events of sent) await add(events, (transfer) => !isFee(transfer, sequencers));
  const received = pagesOf(indexed, [[TRANSFER_SELECTOR], [], [address]]);
  for await (const events of received) await add(events, ({ from }) => from !== address);
  return { synced, total };
}

/** A known sequencer needs no block read to recognise its fees. Early blocks name none. */
function addSequencer(sequencers: Set<bigint>, sequencer: bigint | undefined): void {
  if (sequencer) sequencers.add(sequencer);
}

async function* pagesOf({ chain }: IndexedChain, keys: bigint[][]): AsyncGenerator<readonly EmittedEvent[]> {
  let continuation: string | undefined;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const range = { fromBlock: 0, toBlock: 'latest', limit: EVENTS_PER_PAGE } as const;
    const answer = await chain.events({ ...range, keys, continuation });
    yield answer.events;
    continuation = answer.continuation;
    if (continuation === undefined) return;
  }
}

async function addMissing(
  db: Database,
  indexed: IndexedChain,
  wallet: WalletRecord,
  placed: readonly PlacedTransfer[],
  { limit, sequencers }: { limit: number; sequencers: Set<bigint> },
): Promise<number> {
  const { chain, chainId, environment, pool } = indexed;
  const parties = placed.flatMap(({ from, to }) => [from, to]);
  const wallets = await ownWallets(db.reads, environment, parties);
  const place = { environment, chainId: chain.chainId, wallets, wholeBlocks: false, pool };
  const owned = placed.map((transfer) => ({ transfer, owner: wallet }));
  const { records } = await knownRecords(db.reads, place, owned);
  const missing = owned.filter((one) => !records.has(one)).map(({ transfer }) => transfer);
  const timed = await timeTransfers(chain, missing.slice(0, limit));
  for (const { sequencer } of timed) addSequencer(sequencers, sequencer);
  const others = timed.filter((transfer) => !isFee(transfer, sequencers));
  if (others.length === 0) return 0;
  return db.tx(async (tx) => {
    const cursor = await lockCursor(tx, chainId);
    const current = await onIndexedChain(tx, chainId, cursor, others);
    const { added } = await storeTransfers(
      tx,
      { ...place, newsAbove: cursor?.number ?? Number.POSITIVE_INFINITY },
      current.map((transfer) => ({ transfer, owner: wallet })),
    );
    return added.size;
  });
}

/** Drops transfers in replaced blocks. Higher blocks are read by the indexer, after this transaction. */
async function onIndexedChain(
  tx: Db,
  chainId: string,
  cursor: BlockRef | undefined,
  timed: readonly TimedTransfer[],
): Promise<TimedTransfer[]> {
  const blocks = cursor ? await findBlockHashes(tx, chainId, cursor.number) : [];
  const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
  return timed.filter(({ blockNumber, blockHash }) => (hashes.get(blockNumber) ?? blockHash) === blockHash);
}

/** Each may read a hundred pages; more at once would take the node's whole capacity. */
const SYNCS_AT_ONCE = 2;
/** More would wait longer than their callers do. */
const MAX_QUEUED_SYNCS = 98;

const queued = createSemaphore({ limit: SYNCS_AT_ONCE, maxQueued: MAX_QUEUED_SYNCS });
const syncs = new Map<string, Promise<Synced>>();

/** Callers that ask for the same wallet at once share one sync. */
export function syncWalletQueued(deps: SyncDeps, wallet: WalletRecord): Promise<Synced> {
  const shared = syncs.get(wallet.id);
  if (shared) return shared;
  const synced = queued(() => syncWallet(deps, wallet))
    .catch((error: unknown) => {
      if (!(error instanceof QueueFullError)) throw error;
      throw new ApiError('rate_limited', 'Too many wallets are being looked for on the chain. Try later.');
    })
    .finally(() => syncs.delete(wallet.id));
  syncs.set(wallet.id, synced);
  return synced;
}

const FEE_TOKENS: readonly ChainToken[] = ['STRK', 'ETH'];

/** Transfers to a sequencer in a fee token count as fees; a receipt for each would be too costly. */
export function isFee({ to, known }: Transfer & { known: Token }, sequencers: ReadonlySet<bigint>): boolean {
  return FEE_TOKENS.includes(known.token) && sequencers.has(to);
}
