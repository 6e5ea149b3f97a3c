import { blockDetails } from '../chain/block-details.ts';
import { readInteger } from '../chain/fields.ts';
import { type Block, versionBefore } from '../chain/find-block.ts';
import { eventsOf, transactionAt, transactionsOf } from '../chain/find-transactions.ts';
import { changesBetween, showStateDiff } from '../chain/state-update.ts';
import { blockOf } from './block-id.ts';
import type { CallContext, Method } from './context.ts';
import { rpcErrors } from './rpc-error.ts';
import { showBlock } from './show-block.ts';
import { showReceipt } from './show-receipt.ts';

const MAX_INDEX = 2 ** 31 - 1;

const getBlockWithTxHashes: Method = {
  params: ['block_id'],
  async run(context, { block_id }) {
    const block = await blockOf(context, block_id);
    const transactions = await transactionsOf(context.reads, context.head, block.number);
    return { ...(await show(context, block)), transactions: transactions.map((tx) => tx.hash) };
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
    return (await blockDetails(context.reads, block)).transactions;
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

async function show({ reads }: CallContext, block: Block): Promise<Record<string, unknown>> {
  return showBlock(block, await blockDetails(reads, block));
}

export const blockMethods: Record<string, Method> = {
  starknet_getBlockWithTxHashes: getBlockWithTxHashes,
  starknet_getBlockWithTxs: getBlockWithTxs,
  starknet_getBlockWithReceipts: getBlockWithReceipts,
  starknet_getBlockTransactionCount: getBlockTransactionCount,
  starknet_getTransactionByBlockIdAndIndex: getTransactionByBlockIdAndIndex,
  starknet_getStateUpdate: getStateUpdate,
};
