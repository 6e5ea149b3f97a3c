import type { Handlers } from '../http/call.ts';
import type { JobHandlers, RecurringJob } from '../jobs/job.ts';
import { CONFIRM_TASK, type ConfirmParts, confirm, sweepUnconfirmed, type ToConfirm } from './confirm.ts';
import { executeSponsored, prepareTypedData, type TransactionParts } from './execute.ts';
import { forgetUnusedNames } from './function-names.ts';
import { chainStatus, findTransaction } from './get-transaction.ts';
import { countHistory, listOfWallet } from './history.ts';
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

const COUNT_TASK = 'count-transaction-history';
const SWEEP_TASK = 'sweep-unconfirmed-transactions';
const FORGET_TASK = 'forget-function-names';

export function transactionJobs(parts: ConfirmParts): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: {
      [CONFIRM_TASK]: (toConfirm: ToConfirm) => confirm(parts, toConfirm),
      [COUNT_TASK]: async (_: unknown, { signal }) => void (await countHistory(parts.db, signal)),
      [SWEEP_TASK]: () => sweepUnconfirmed(parts.db),
      [FORGET_TASK]: () => forgetUnusedNames(parts.db),
    },
    recurring: [
      { task: COUNT_TASK, everySeconds: 10 },
      { task: SWEEP_TASK, everySeconds: 60 },
      { task: FORGET_TASK, everySeconds: 3_600 },
    ],
  };
}
