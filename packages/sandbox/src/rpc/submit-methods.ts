import { TRANSACTION_VERSION, toHex } from '@svc/starknet';
import { FieldError, readFelt, readObject } from '../chain/fields.ts';
import { type ReadTransaction, readTransaction } from '../chain/read-transaction.ts';
import { type Submitted, submit } from '../chain/submit.ts';
import type { Refused, Transaction } from '../execution/types.ts';
import type { CallContext, Method } from './context.ts';
import { type RpcError, rpcErrors } from './rpc-error.ts';

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

/** Answers once the transaction is stored: in a block, or among those that wait for the ones before them. */
async function send<T extends Transaction['type']>(
  { writer, forgets }: CallContext,
  value: unknown,
  name: string,
  type: T,
): Promise<Extract<Transaction, { type: T }>> {
  const read = readSent(value, name, type);
  if (!forgets) {
    const error = refusalOf(await writer.write((draft) => submit(draft, read)));
    if (error) throw error;
  }
  return read.tx;
}

function readSent<T extends Transaction['type']>(value: unknown, name: string, type: T) {
  const fields = readObject(value, name);
  if (fields.type !== type) throw new FieldError(`${name}.type must be ${type}`);
  if (type === 'DECLARE' && fields.contract_class === undefined) throw new FieldError(`${name} lacks contract_class`);
  // Before the rest is read: other versions have other fields.
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
      return rpcErrors.insufficientResources(reason);
    case 'INSUFFICIENT_BALANCE':
      return rpcErrors.insufficientBalance(reason);
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
