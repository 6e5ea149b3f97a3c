import { toHex } from '@svc/starknet';
import type { BlockDetails } from '../chain/block-details.ts';
import type { Block } from '../chain/find-block.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { gasPrices } from '../execution/fees.ts';
import type { GasPrice } from '../execution/types.ts';

const STARKNET_VERSION = '0.14.1';
/** Commitments and roots are not computed: nothing in development proves anything against them. */
const NO_COMMITMENT = '0x0';

/** The head of a block; one that is still open has no hash, no parent and no status. */
export function showBlock(block: Block, details: BlockDetails): Record<string, unknown> {
  if (block.hash === undefined) return { block_number: block.number, ...common(block) };
  return {
    status: block.finality,
    block_hash: block.hash,
    parent_hash: details.parentHash,
    block_number: block.number,
    new_root: NO_COMMITMENT,
    ...common(block),
    event_commitment: NO_COMMITMENT,
    transaction_commitment: NO_COMMITMENT,
    receipt_commitment: NO_COMMITMENT,
    state_diff_commitment: NO_COMMITMENT,
    event_count: details.events,
    transaction_count: details.transactions,
    state_diff_length: details.changes,
  };
}

function common(block: Block): Record<string, unknown> {
  const prices = gasPrices();
  return {
    timestamp: block.timestamp,
    sequencer_address: toHex(predeployed.sequencer.address),
    l1_gas_price: showPrice(prices.l1Gas),
    l2_gas_price: showPrice(prices.l2Gas),
    l1_data_gas_price: showPrice(prices.l1DataGas),
    l1_da_mode: 'BLOB',
    starknet_version: STARKNET_VERSION,
  };
}

function showPrice({ fri, wei }: GasPrice) {
  return { price_in_fri: toHex(fri), price_in_wei: toHex(wei) };
}
