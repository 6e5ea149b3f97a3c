import type { Receipt } from '../../chains/starknet/chain.ts';
import { settle } from '../settle.ts';
import type { PaymasterParts } from './parts.ts';
import type { PaymasterRelay } from './store.ts';

type Parts = Pick<PaymasterParts, 'db' | 'networks' | 'outcomes'>;

/** What the chain says of the relay's transaction, once it is in a block. */
export async function settleWith(parts: Parts, relay: PaymasterRelay, receipt: Receipt): Promise<void> {
  const { chain } = parts.networks.starknet(relay.environment);
  const block = receipt.blockNumber === undefined ? undefined : await chain.block(receipt.blockNumber);
  // The block was taken away while we looked; what takes its place is seen the next time.
  if (block?.hash !== receipt.blockHash || !block) return;
  await settle(parts.db, parts.outcomes, relay, { receipt, block, filler: false });
}

/** It was not executed and will not be. */
export async function giveUp(parts: Parts, relay: PaymasterRelay): Promise<void> {
  await settle(parts.db, parts.outcomes, relay, undefined);
}
