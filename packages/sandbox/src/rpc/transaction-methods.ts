import { toHex } from '@svc/starknet';
import { readFelt } from '../chain/fields.ts';
import { eventsOf, findTransaction, type StoredTransaction } from '../chain/find-transactions.ts';
import { queuedTransaction } from '../chain/mempool.ts';
import type { CallContext, Method } from './context.ts';
import { rpcErrors } from './rpc-error.ts';
import { showBlockInfo, showReceipt, showStatus } from './show-receipt.ts';

const getTransactionByHash: Method = {
  params: ['transaction_hash'],
  async run(context, { transaction_hash }) {
    const hash = readHash(transaction_hash);
    const transaction = (await find(context, hash))?.transaction ?? (await queued(context, hash));
    if (!transaction) throw rpcErrors.transactionNotFound();
    return { transaction_hash: hash, ...transaction };
  },
};

const getTransactionReceipt: Method = {
  params: ['transaction_hash'],
  async run(context, { transaction_hash }) {
    const tx = await find(context, readHash(transaction_hash));
    if (!tx) throw rpcErrors.transactionNotFound();
    const events = await eventsOf(context.reads, [tx.version]);
    return { ...showReceipt(context.head, tx, events), ...showBlockInfo(tx) };
  },
};

const getTransactionStatus: Method = {
  params: ['transaction_hash'],
  async run(context, { transaction_hash }) {
    const hash = readHash(transaction_hash);
    const tx = await find(context, hash);
    if (tx) {
      const status = showStatus(context.head, tx);
      return tx.revert_reason === null ? status : { ...status, failure_reason: tx.revert_reason };
    }
    if (await queued(context, hash)) return { finality_status: 'RECEIVED' };
    throw rpcErrors.transactionNotFound();
  },
};

/** There are no messages from L1 here, so no L1 transaction has sent any. */
const getMessagesStatus: Method = {
  params: ['transaction_hash'],
  run: async () => [],
};

export function readHash(value: unknown): string {
  return toHex(readFelt(value, 'transaction_hash'));
}

function find({ reads, head }: CallContext, hash: string): Promise<StoredTransaction | undefined> {
  return findTransaction(reads, head, hash);
}

async function queued({ reads, head }: CallContext, hash: string) {
  return head.queued > 0 ? queuedTransaction(reads, hash) : undefined;
}

export const transactionMethods: Record<string, Method> = {
  starknet_getTransactionByHash: getTransactionByHash,
  starknet_getTransactionReceipt: getTransactionReceipt,
  starknet_getTransactionStatus: getTransactionStatus,
  starknet_getMessagesStatus: getMessagesStatus,
};
