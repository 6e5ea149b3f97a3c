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
import type { BlockRef, IndexerContext } from './indexer.ts';

export const EVENTS_PER_PAGE = 1_000;
/** After this many pages a range ends with the last complete block, so that progress is stored. */
const PAGES_PER_RANGE = 20;
const MAX_PAGES = 1_000;

export interface Scanned {
  readonly end: BlockRef;
  readonly blocks: readonly BlockRef[];
  /** To own wallets and watched addresses, in the chain's order. */
  readonly transfers: readonly TimedTransfer[];
  readonly wallets: Wallets;
  readonly watched: ReadonlySet<bigint>;
}

/** Undefined when the chain changed meanwhile. */
export async function scan(context: IndexerContext, after: BlockRef, upTo: number): Promise<Scanned | undefined> {
  const { chain } = context;
  const last = await chain.block(upTo);
  if (!last) return undefined;
  const pages = await readPages(context, after.number + 1, upTo);
  if (!pages) return undefined;
  const transfers = await timeTransfers(chain, await placeTransfers(chain, pages.found));
  const end = pages.upTo === upTo ? last : await chain.block(pages.upTo);
  // Blocks are chained by hash: while both ends stand, so does everything between.
  const [first, again] = await Promise.all([chain.block(after.number), chain.block(upTo)]);
  const unchanged = first?.hash === after.hash && again?.hash === last.hash;
  if (!end || !unchanged || transfers.length < pages.found.length) return undefined;
  const blocks = [...pages.blocks].map(([number, hash]) => ({ number, hash }));
  return {
    end,
    blocks: [...blocks.filter(({ number }) => number < end.number), end],
    transfers,
    wallets: pages.wallets,
    watched: pages.watched,
  };
}

interface Pages {
  readonly upTo: number;
  readonly blocks: ReadonlyMap<number, bigint>;
  readonly found: readonly EventTransfer[];
  readonly wallets: Wallets;
  readonly watched: ReadonlySet<bigint>;
}

async function readPages(context: IndexerContext, from: number, upTo: number): Promise<Pages | undefined> {
  const blocks = new Map<number, bigint>();
  const wallets = new Map<bigint, WalletRecord>();
  const watched = new Set<bigint>();
  const found: EventTransfer[] = [];
  let page: EventPage | undefined;
  for (let count = 1; count <= MAX_PAGES; count += 1) {
    page = await readPage(context, from, upTo, page?.continuation);
    if (!page || !addBlocks(blocks, page.events)) return undefined;
    const transfers = transfersOf(page.events, context.tokens);
    const parties = transfers.flatMap((transfer) => [transfer.from, transfer.to]);
    for (const [address, wallet] of await ownWallets(context.db.reads, context.environment, parties)) {
      wallets.set(address, wallet);
    }
    const recipients = await context.watcher?.watchedAmong(context.db.reads, context.environment, transfers);
    for (const address of recipients ?? []) watched.add(address);
    found.push(...transfers.filter(({ to }) => wallets.has(to) || watched.has(to)));
    if (page.continuation === undefined) return { upTo, blocks, found, wallets, watched };
    const open = Math.max(...blocks.keys());
    if (count >= PAGES_PER_RANGE && open > from) {
      return { upTo: open - 1, blocks, found: found.filter(({ blockNumber }) => blockNumber < open), wallets, watched };
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
    if (isCode(error, code.blockNotFound)) return undefined;
    throw error;
  }
}

function addBlocks(blocks: Map<number, bigint>, events: readonly EmittedEvent[]): boolean {
  return events.every(({ blockNumber, blockHash }) => {
    if (blockNumber === undefined || blockHash === undefined) return true;
    const known = blocks.get(blockNumber) ?? blockHash;
    blocks.set(blockNumber, known);
    return known === blockHash;
  });
}

export interface EventTransfer extends Transfer {
  readonly known: Token;
  readonly transactionHash: bigint;
  readonly blockNumber: number;
  readonly blockHash: bigint;
  readonly event: EmittedEvent;
}

export interface PlacedTransfer extends EventTransfer {
  readonly eventIndex: number;
}

export interface TimedTransfer extends PlacedTransfer {
  readonly time: Date;
  readonly sequencer: bigint | undefined;
}

export function transfersOf(events: readonly EmittedEvent[], tokens: ReadonlyMap<bigint, Token>): EventTransfer[] {
  return events.flatMap((event) => {
    const { transactionHash, blockNumber, blockHash } = event;
    const known = tokens.get(event.from);
    const transfer = known && readTransfer(event);
    if (!transfer || blockNumber === undefined || blockHash === undefined) return [];
    return [{ ...transfer, known, transactionHash, blockNumber, blockHash, event }];
  });
}

export async function placeTransfers(chain: StarknetChain, found: readonly EventTransfer[]): Promise<PlacedTransfer[]> {
  const places = await eventIndexes(
    chain,
    found.map(({ event }) => event),
  );
  return found.flatMap((transfer, order) => {
    const eventIndex = places[order];
    return eventIndex === undefined ? [] : [{ ...transfer, eventIndex }];
  });
}

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

/** From the event, or from the receipt where an older node omits it. Undefined where the receipt lacks the event or is in another block. */
export async function eventIndexes(
  chain: StarknetChain,
  events: readonly EmittedEvent[],
): Promise<readonly (number | undefined)[]> {
  const unindexed = events.filter(({ index }) => index === undefined).map(({ transactionHash }) => transactionHash);
  const receipts = new Map<bigint, Map<string, number[]>>();
  await inBatches([...new Set(unindexed)], async (hash) => {
    const receipt = await chain.receipt(hash);
    if (receipt?.blockHash !== undefined) receipts.set(hash, indexesOf(receipt.blockHash, receipt.events));
  });
  return events.map((event) => {
    if (event.index !== undefined) return event.index;
    return receipts.get(event.transactionHash)?.get(nameOf(event.blockHash, event))?.shift();
  });
}

function indexesOf(blockHash: bigint, events: readonly ChainEvent[]): Map<string, number[]> {
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

export type Wallets = ReadonlyMap<bigint, WalletRecord>;

export async function ownWallets(
  reads: Reads,
  environment: Environment,
  addresses: Iterable<bigint>,
): Promise<Wallets> {
  // Mints and burns name the zero address.
  const possible = [...new Set(addresses)].flatMap((address) => {
    const parsed = parseStarknetAddress(toHex(address));
    return parsed.ok ? [parsed.value] : [];
  });
  const wallets = await walletsAt(reads, environment, possible);
  return new Map(wallets.map((wallet) => [BigInt(wallet.address), wallet]));
}
