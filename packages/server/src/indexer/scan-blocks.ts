import { type Environment, parseStarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Reads } from '@svc/store';
import {
  type Block,
  type ChainEvent,
  type EmittedEvent,
  type EventPage,
  readTransfer,
  type StarknetChain,
  TRANSFER_SELECTOR,
  type Transfer,
} from '../chains/starknet/chain.ts';
import { code, isCode } from '../chains/starknet/rpc-answers.ts';
import type { Token } from '../chains/tokens.ts';
import { inBatches } from '../util/semaphore.ts';
import { type WalletRecord, walletsAt } from '../wallets/wallet.ts';
import type { IndexerContext, Place } from './cursor.ts';

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
export async function scan(follower: IndexerContext, after: Place, upTo: number): Promise<Scanned | undefined> {
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

async function readPages(follower: IndexerContext, from: number, upTo: number): Promise<Pages | undefined> {
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
  { chain }: IndexerContext,
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

/** A transfer of a known token, as an event of a sealed block tells it. */
export interface SeenTransfer extends Transfer {
  readonly known: Token;
  readonly transactionHash: bigint;
  readonly blockNumber: number;
  readonly blockHash: bigint;
  readonly event: EmittedEvent;
}

export interface PlacedTransfer extends SeenTransfer {
  /** Its event's place in the receipt. */
  readonly eventIndex: number;
}

export interface TimedTransfer extends PlacedTransfer {
  /** Of the block. */
  readonly time: Date;
  /** Who made the block. */
  readonly sequencer: bigint | undefined;
}

/** The transfers of known tokens among events, in their order. */
export function seenIn(events: readonly EmittedEvent[], tokens: ReadonlyMap<bigint, Token>): SeenTransfer[] {
  return events.flatMap((event) => {
    const { transactionHash, blockNumber, blockHash } = event;
    const known = tokens.get(event.from);
    const transfer = known && readTransfer(event);
    // What stands in the open block will be seen when that is sealed.
    if (!transfer || blockNumber === undefined || blockHash === undefined) return [];
    return [{ ...transfer, known, transactionHash, blockNumber, blockHash, event }];
  });
}

/** Without those that the chain does not have any more. */
export async function placeTransfers(chain: StarknetChain, seen: readonly SeenTransfer[]): Promise<PlacedTransfer[]> {
  const places = await eventPlaces(
    chain,
    seen.map(({ event }) => event),
  );
  return seen.flatMap((transfer, order) => {
    const eventIndex = places[order];
    return eventIndex === undefined ? [] : [{ ...transfer, eventIndex }];
  });
}

/** Without those that the chain does not have any more. */
export async function timeTransfers(chain: StarknetChain, placed: readonly PlacedTransfer[]): Promise<TimedTransfer[]> {
  const blocks = new Map<number, Block>();
  await inBatches([...new Set(placed.map(({ blockNumber }) => blockNumber))], async (number) => {
    const block = await chain.block(number);
    if (block) blocks.set(number, block);
  });
  return placed.flatMap((transfer) => {
    const block = blocks.get(transfer.blockNumber);
    if (block?.hash !== transfer.blockHash) return [];
    return [{ ...transfer, time: block.timestamp, sequencer: block.sequencer }];
  });
}

/**
 * The place of each event among those of its transaction: as the node tells it, or else as the receipt shows it. Of equal events
 * the first is the first one there. Undefined where the receipt does not have the event, or stands in another block.
 */
export async function eventPlaces(
  chain: StarknetChain,
  events: readonly EmittedEvent[],
): Promise<readonly (number | undefined)[]> {
  const untold = events.filter(({ index }) => index === undefined).map(({ transactionHash }) => transactionHash);
  const receipts = new Map<bigint, Map<string, number[]>>();
  await inBatches([...new Set(untold)], async (hash) => {
    const receipt = await chain.receipt(hash);
    if (receipt?.blockHash !== undefined) receipts.set(hash, placesOf(receipt.blockHash, receipt.events));
  });
  return events.map((event) => {
    if (event.index !== undefined) return event.index;
    return receipts.get(event.transactionHash)?.get(nameOf(event.blockHash, event))?.shift();
  });
}

function placesOf(blockHash: bigint, events: readonly ChainEvent[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [index, event] of events.entries()) {
    const name = nameOf(blockHash, event);
    places.set(name, [...(places.get(name) ?? []), index]);
  }
  return places;
}

function nameOf(blockHash: bigint | undefined, { from, keys, data }: ChainEvent): string {
  return [blockHash, from, keys.join(' '), data.join(' ')].join();
}

/** By address. */
export type Wallets = ReadonlyMap<bigint, WalletRecord>;

/** Which of the addresses are wallets of an environment. */
export async function ownWallets(
  reads: Reads,
  environment: Environment,
  addresses: Iterable<bigint>,
): Promise<Wallets> {
  // Tokens are minted by and burnt to zero, which is nobody's address.
  const possible = [...new Set(addresses)].flatMap((address) => {
    const parsed = parseStarknetAddress(toHex(address));
    return parsed.ok ? [parsed.value] : [];
  });
  const wallets = await walletsAt(reads, environment, possible);
  return new Map(wallets.map((wallet) => [BigInt(wallet.address), wallet]));
}
