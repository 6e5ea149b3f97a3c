import { TRANSACTION_VERSION, toHex } from '@svc/starknet';
import { queuedTransaction, type Submitted, submit } from '../chain/draft.ts';
import type { Head } from '../chain/head.ts';
import { finalityOf, type StoredTransaction } from '../chain/queries.ts';
import type { EventRow } from '../chain/state.ts';
import { FieldError, type ReadTransaction, readFelt, readObject, readTransaction } from '../chain/transaction.ts';
import type { Refused, Transaction } from '../execution/types.ts';
import { type CallContext, type Method, type RpcError, rpcErrors } from './context.ts';

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
    const { blocks, reads, head } = context;
    const found = await blocks.withEvents(reads, head, readHash(transaction_hash));
    if (!found) throw rpcErrors.transactionNotFound();
    return { ...showReceipt(head, found.tx, found.events), ...showBlockInfo(found.tx) };
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

/** There is no L1, so there are no messages. */
const getMessagesStatus: Method = {
  params: ['transaction_hash'],
  async run(_context, { transaction_hash }) {
    if (typeof transaction_hash !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(transaction_hash)) {
      throw new FieldError('transaction_hash must be a hash in hex (0x…)');
    }
    throw rpcErrors.transactionNotFound();
  },
};

export function readHash(value: unknown): string {
  return toHex(readFelt(value, 'transaction_hash'));
}

function find({ blocks, reads, head }: CallContext, hash: string): Promise<StoredTransaction | undefined> {
  return blocks.transaction(reads, head, hash);
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

export function showReceipt(head: Head, tx: StoredTransaction, events: readonly EventRow[]): Record<string, unknown> {
  return {
    type: tx.transaction.type,
    transaction_hash: tx.hash,
    actual_fee: { amount: tx.actual_fee, unit: 'FRI' },
    ...showStatus(head, tx),
    ...(tx.revert_reason !== null && { revert_reason: tx.revert_reason }),
    messages_sent: [],
    events: events.map(({ from_address, keys, data }) => ({ from_address, keys, data })),
    execution_resources: { l1_gas: tx.l1_gas, l1_data_gas: tx.l1_data_gas, l2_gas: tx.l2_gas },
    ...(tx.contract_address !== null && { contract_address: tx.contract_address }),
  };
}

export function showBlockInfo(tx: StoredTransaction): Record<string, unknown> {
  return { ...(tx.block_hash !== null && { block_hash: tx.block_hash }), block_number: tx.block_number };
}

export function showStatus(head: Head, tx: StoredTransaction) {
  return { finality_status: finalityOf(head, tx.block_number), execution_status: tx.execution_status };
}

const addInvokeTransaction: Method = {
  params: ['invoke_transaction'],
  async run(context, { invoke_transaction }) {
    const tx = await send(context, invoke_transaction, 'invoke_transaction', 'INVOKE');
    return { transaction_hash: toHex(tx.hash) };
  },
};

const addDeployAccountTransaction: Method = {
  params: ['deploy_account_transaction'],
  async run(context, { deploy_account_transaction }) {
    const tx = await send(context, deploy_account_transaction, 'deploy_account_transaction', 'DEPLOY_ACCOUNT');
    return { transaction_hash: toHex(tx.hash), contract_address: toHex(tx.address) };
  },
};

const addDeclareTransaction: Method = {
  params: ['declare_transaction'],
  async run(context, { declare_transaction }) {
    const tx = await send(context, declare_transaction, 'declare_transaction', 'DECLARE');
    return { transaction_hash: toHex(tx.hash), class_hash: toHex(tx.classHash) };
  },
};

/** Returns once the transaction is stored in a block or in the mempool. */
async function send<T extends Transaction['type']>(
  { writer, dropTransaction }: CallContext,
  value: unknown,
  name: string,
  type: T,
): Promise<Extract<Transaction, { type: T }>> {
  const read = readSent(value, name, type);
  if (!dropTransaction) {
    const error = refusalOf(await writer.write((draft) => submit(draft, read)));
    if (error) throw error;
  }
  return read.tx;
}

function readSent<T extends Transaction['type']>(value: unknown, name: string, type: T) {
  const fields = readObject(value, name);
  if (fields.type !== type) throw new FieldError(`${name}.type must be ${type}`);
  if (type === 'DECLARE' && fields.contract_class === undefined) throw new FieldError(`${name} lacks contract_class`);
  // Checked first: other versions have other fields.
  if (readFelt(fields.version, `${name}.version`) !== TRANSACTION_VERSION) throw rpcErrors.unsupportedVersion();
  return readTransaction(fields, name) as ReadTransaction & { readonly tx: Extract<Transaction, { type: T }> };
}

function refusalOf(submitted: Submitted): RpcError | undefined {
  switch (submitted.outcome) {
    case 'INCLUDED':
    case 'QUEUED':
      return undefined;
    case 'DUPLICATE':
      return rpcErrors.duplicateTransaction();
    case 'UNDERPRICED':
      return rpcErrors.underpriced();
    case 'FULL':
      return rpcErrors.unexpected('The mempool is full.');
    case 'REFUSED':
      return errorFor(submitted.refusal);
  }
}

function errorFor({ refused, reason }: Refused): RpcError {
  switch (refused) {
    case 'INVALID_NONCE':
      return rpcErrors.invalidNonce(reason);
    case 'INSUFFICIENT_RESOURCES':
      return rpcErrors.insufficientResources();
    case 'INSUFFICIENT_BALANCE':
      return rpcErrors.insufficientBalance();
    case 'NON_ACCOUNT':
      return rpcErrors.nonAccount();
    case 'CLASS_NOT_FOUND':
      return rpcErrors.classHashNotFound();
    case 'CLASS_ALREADY_DECLARED':
      return rpcErrors.classAlreadyDeclared();
    case 'CONTRACT_NOT_FOUND':
    case 'VALIDATION_FAILURE':
      return rpcErrors.validationFailure(reason);
  }
}

export const submitMethods: Record<string, Method> = {
  starknet_addInvokeTransaction: addInvokeTransaction,
  starknet_addDeployAccountTransaction: addDeployAccountTransaction,
  starknet_addDeclareTransaction: addDeclareTransaction,
};
