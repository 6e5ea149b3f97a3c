import type { EmittedEvent, EventPage } from '../chains/starknet/chain.ts';
import { code, isCode } from '../chains/starknet/refusal.ts';
import { TRANSFER_SELECTOR } from '../chains/starknet/transfers.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import type { Follower } from './follower.ts';
import { ownWallets, type Wallets } from './own-wallets.ts';
import { placeTransfers, type SeenTransfer, seenIn, type TimedTransfer, timeTransfers } from './seen-transfers.ts';
import type { Place } from './store.ts';

/** What public nodes give at once. */
export const EVENTS_PER_PAGE = 1_000;
/** After so many pages a range ends early, with the last block that was read whole, so that what was found is stored. */
const PAGES_PER_RANGE = 20;
/** No block has so many events: a node that never comes to an end is broken. */
const MAX_PAGES = 1_000;

export interface Scanned {
  readonly end: Place;
  /** All blocks that events told of, and the end. */
  readonly blocks: readonly Place[];
  /** Transfers to wallets of ours, in the chain's order. */
  readonly transfers: readonly TimedTransfer[];
  /** Ours among their parties. */
  readonly wallets: Wallets;
}

/** Looks for transfers to our wallets after one block and up to another. Undefined when the chain changed meanwhile. */
export async function scan(follower: Follower, after: Place, upTo: number): Promise<Scanned | undefined> {
  const { chain } = follower;
  const last = await chain.block(upTo);
  if (!last) return undefined;
  const pages = await readPages(follower, after.number + 1, upTo);
  if (!pages) return undefined;
  const transfers = await timeTransfers(chain, await placeTransfers(chain, pages.seen));
  const end = pages.upTo === upTo ? last : await chain.block(pages.upTo);
  // Blocks are chained by their hashes: while these two stand, so does everything that was read between them.
  const [first, again] = await Promise.all([chain.block(after.number), chain.block(upTo)]);
  const stands = first?.hash === after.hash && again?.hash === last.hash;
  if (!end || !stands || transfers.length < pages.seen.length) return undefined;
  const blocks = [...pages.blocks].map(([number, hash]) => ({ number, hash }));
  return {
    end,
    blocks: [...blocks.filter(({ number }) => number < end.number), end],
    transfers,
    wallets: pages.wallets,
  };
}

interface Pages {
  readonly upTo: number;
  readonly blocks: ReadonlyMap<number, bigint>;
  readonly seen: readonly SeenTransfer[];
  readonly wallets: Wallets;
}

async function readPages(follower: Follower, from: number, upTo: number): Promise<Pages | undefined> {
  const blocks = new Map<number, bigint>();
  const wallets = new Map<bigint, WalletRecord>();
  const seen: SeenTransfer[] = [];
  let page: EventPage | undefined;
  for (let count = 1; count <= MAX_PAGES; count += 1) {
    page = await readPage(follower, from, upTo, page?.continuation);
    if (!page || !noteBlocks(blocks, page.events)) return undefined;
    const transfers = seenIn(page.events, follower.tokens);
    const parties = transfers.flatMap((transfer) => [transfer.from, transfer.to]);
    for (const [address, wallet] of await ownWallets(follower.db.reads, follower.environment, parties)) {
      wallets.set(address, wallet);
    }
    seen.push(...transfers.filter(({ to }) => wallets.has(to)));
    if (page.continuation === undefined) return { upTo, blocks, seen, wallets };
    const open = Math.max(...blocks.keys());
    if (count >= PAGES_PER_RANGE && open > from) {
      return { upTo: open - 1, blocks, seen: seen.filter(({ blockNumber }) => blockNumber < open), wallets };
    }
  }
  throw new Error(`The events from block ${from} to ${upTo} have more than ${MAX_PAGES} pages.`);
}

async function readPage(
  { chain }: Follower,
  fromBlock: number,
  toBlock: number,
  continuation: string | undefined,
): Promise<EventPage | undefined> {
  try {
    return await chain.events({
      fromBlock,
      toBlock,
      keys: [[TRANSFER_SELECTOR]],
      limit: EVENTS_PER_PAGE,
      continuation,
    });
  } catch (error) {
    // The chain has become shorter.
    if (isCode(error, code.blockNotFound)) return undefined;
    throw error;
  }
}

/** False when a block has become another one since an earlier event told of it. */
function noteBlocks(blocks: Map<number, bigint>, events: readonly EmittedEvent[]): boolean {
  return events.every(({ blockNumber, blockHash }) => {
    if (blockNumber === undefined || blockHash === undefined) return true;
    const known = blocks.get(blockNumber) ?? blockHash;
    blocks.set(blockNumber, known);
    return known === blockHash;
  });
}
