import type { Handlers } from '../http/call.ts';
import { chainStatus } from './chain-status.ts';
import { executeSponsored } from './execute.ts';
import { findTransaction } from './find-transaction.ts';
import { listOfWallet } from './list-of-wallet.ts';
import type { TransactionParts } from './parts.ts';
import { prepareTypedData } from './prepare.ts';
import { recordSend } from './record-send.ts';

type TransactionOperation =
  | 'prepareTypedData'
  | 'executeSponsoredTransaction'
  | 'recordSend'
  | 'listTransactions'
  | 'getTransaction'
  | 'getTransactionStatus';

export function transactionHandlers(parts: TransactionParts): Pick<Handlers, TransactionOperation> {
  const look = { reads: parts.db.reads, networks: parts.networks };
  return {
    prepareTypedData: ({ caller, body }) => prepareTypedData(parts, caller, body),
    executeSponsoredTransaction: ({ caller, body }) => executeSponsored(parts, caller, body),
    recordSend: (call) => recordSend(parts, call),
    listTransactions: ({ caller, query }) => listOfWallet(parts.db.reads, caller, query),
    getTransaction: ({ caller, params }) => findTransaction(look, caller, params.hashOrId),
    getTransactionStatus: ({ caller, params }) => chainStatus(look, caller, params.hash),
  };
}
