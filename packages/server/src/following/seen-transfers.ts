import type { Block, EmittedEvent, StarknetChain } from '../chains/starknet/chain.ts';
import { readTransfer, type Transfer } from '../chains/starknet/transfers.ts';
import type { Token } from '../chains/tokens.ts';
import { eventPlaces } from './event-places.ts';
import { inBatches } from './in-batches.ts';

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
