import { chainIds, toHex } from '@svc/starknet';
import {
  type Block,
  type BlockDetails,
  changesBetween,
  eventsOf,
  showStateDiff,
  transactionAt,
  transactionsOf,
  versionBefore,
} from '../chain/queries.ts';
import { readInteger } from '../chain/transaction.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { gasPrices } from '../execution/fees.ts';
import type { GasPrice } from '../execution/types.ts';
import { blockOf, type CallContext, type Method, rpcErrors } from './context.ts';
import { showReceipt } from './transaction-methods.ts';

const MAX_INDEX = 2 ** 31 - 1;

const getBlockWithTxHashes: Method = {
  params: ['block_id'],
  async run(context, { block_id }) {
    const block = await blockOf(context, block_id);
    const { details, hashes } = await context.blocks.content(context.reads, context.head, block);
    return { ...showBlock(block, details), transactions: hashes };
  },
};

const getBlockWithTxs: Method = {
  params: ['block_id'],
  async run(context, { block_id }) {
    const block = await blockOf(context, block_id);
    const transactions = await transactionsOf(context.reads, context.head, block.number);
    return {
      ...(await show(context, block)),
      transactions: transactions.map((tx) => ({ transaction_hash: tx.hash, ...tx.transaction })),
    };
  },
};

const getBlockWithReceipts: Method = {
  params: ['block_id'],
  async run(context, { block_id }) {
    const { db, head } = context;
    const block = await blockOf(context, block_id);
    const transactions = await transactionsOf(db, head, block.number);
    const events = Map.groupBy(
      await eventsOf(
        db,
        transactions.map((tx) => tx.version),
      ),
      (event) => event.version,
    );
    return {
      ...(await show(context, block)),
      transactions: transactions.map((tx) => ({
        transaction: tx.transaction,
        receipt: showReceipt(head, tx, events.get(tx.version) ?? []),
      })),
    };
  },
};

const getBlockTransactionCount: Method = {
  params: ['block_id'],
  async run(context, { block_id }) {
    const block = await blockOf(context, block_id);
    return (await context.blocks.content(context.reads, context.head, block)).details.transactions;
  },
};

const getTransactionByBlockIdAndIndex: Method = {
  params: ['block_id', 'index'],
  async run(context, { block_id, index }) {
    const block = await blockOf(context, block_id);
    const place = readInteger(index, 'index', 0, MAX_INDEX);
    const tx = await transactionAt(context.reads, context.head, block.number, place);
    if (!tx) throw rpcErrors.invalidTransactionIndex();
    return { transaction_hash: tx.hash, ...tx.transaction };
  },
};

const getStateUpdate: Method = {
  params: ['block_id'],
  async run(context, { block_id }) {
    const block = await blockOf(context, block_id);
    const changes = await changesBetween(context.db, await versionBefore(context.reads, block), block.version);
    const state_diff = showStateDiff(changes);
    if (block.hash === undefined) return { old_root: '0x0', state_diff };
    return { block_hash: block.hash, old_root: '0x0', new_root: '0x0', state_diff };
  },
};

async function show({ blocks, reads, head }: CallContext, block: Block): Promise<Record<string, unknown>> {
  return showBlock(block, (await blocks.content(reads, head, block)).details);
}

export const blockMethods: Record<string, Method> = {
  starknet_getBlockWithTxHashes: getBlockWithTxHashes,
  starknet_getBlockWithTxs: getBlockWithTxs,
  starknet_getBlockWithReceipts: getBlockWithReceipts,
  starknet_getBlockTransactionCount: getBlockTransactionCount,
  starknet_getTransactionByBlockIdAndIndex: getTransactionByBlockIdAndIndex,
  starknet_getStateUpdate: getStateUpdate,
};

const STARKNET_VERSION = '0.14.1';
/** Commitments and roots are not computed: nothing in development verifies them. */
const NO_COMMITMENT = '0x0';

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

const answer = (run: Method['run']): Method => ({ params: [], run });

export const chainMethods: Record<string, Method> = {
  starknet_specVersion: answer(async ({ spec }) => spec),
  starknet_chainId: answer(async () => toHex(chainIds.SVC_SANDBOX)),
  starknet_blockNumber: answer(async ({ head }) => head.number),
  starknet_blockHashAndNumber: answer(async ({ head }) => ({ block_hash: head.hash, block_number: head.number })),
  starknet_syncing: answer(async () => false),
};
