import { findTransaction, type StoredTransaction, transactionsOf } from '../chain/find-transactions.ts';
import { queuedTransaction } from '../chain/mempool.ts';
import { readTransaction } from '../chain/read-transaction.ts';
import { stateAt } from '../chain/state-at.ts';
import { executeTransaction } from '../execution/execute.ts';
import { contextOf } from './block-context.ts';
import { blockOf } from './block-id.ts';
import type { CallContext, Method } from './context.ts';
import { rpcErrors } from './rpc-error.ts';
import { showTrace } from './show-trace.ts';
import { readHash } from './transaction-methods.ts';

const traceTransaction: Method = {
  params: ['transaction_hash'],
  async run(context, { transaction_hash }) {
    const hash = readHash(transaction_hash);
    const stored = await findTransaction(context.reads, context.head, hash);
    if (stored) return trace(context, stored);
    if (await queuedTransaction(context.reads, hash)) throw rpcErrors.noTrace('RECEIVED');
    throw rpcErrors.transactionNotFound();
  },
};

const traceBlockTransactions: Method = {
  params: ['block_id'],
  async run(context, { block_id }) {
    const block = await blockOf(context, block_id);
    const traces = [];
    for (const stored of await transactionsOf(context.reads, context.head, block.number)) {
      traces.push({ transaction_hash: stored.hash, trace_root: await trace(context, stored) });
    }
    return traces;
  },
};

/** Traces are not stored: the transaction runs again on the state that it found. */
async function trace(context: CallContext, stored: StoredTransaction) {
  const { tx } = readTransaction(stored.transaction, 'transaction');
  const before = stateAt(context.reads, context.cache, stored.version - 1);
  const block = await blockOf(context, blockIdOf(context, stored.block_number));
  const options = stored.revert_reason === null ? {} : { forceRevert: stored.revert_reason };
  const executed = await executeTransaction(before, contextOf(block.number, block.timestamp), tx, options);
  if ('refused' in executed) throw rpcErrors.unexpected(`The transaction cannot be run again: ${executed.reason}`);
  return showTrace(before, tx, executed);
}

function blockIdOf({ head }: CallContext, number: number): unknown {
  return number > head.number ? 'pre_confirmed' : { block_number: number };
}

export const traceMethods: Record<string, Method> = {
  starknet_traceTransaction: traceTransaction,
  starknet_traceBlockTransactions: traceBlockTransactions,
};
