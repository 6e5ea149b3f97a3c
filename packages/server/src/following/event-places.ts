import type { ChainEvent, EmittedEvent, StarknetChain } from '../chains/starknet/chain.ts';
import { inBatches } from './in-batches.ts';

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
