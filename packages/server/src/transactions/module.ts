import type { Handlers } from '../http/call.ts';
import type { Jobs, Module } from '../http/module.ts';
import { deleteUnusedNames } from './decode.ts';
import { executeSponsored, prepareTypedData, type TransactionDeps } from './execute.ts';
import { chainStatus, getTransaction, transactionDetails } from './get-transaction.ts';
import { countHistory, listEnvironmentTransactions, listOfWallet } from './history.ts';
import {
  CONFIRM_TASK,
  type ConfirmDeps,
  type ConfirmPayload,
  confirm,
  recordSend,
  sweepUnconfirmed,
} from './record-send.ts';

type TransactionOperation =
  | 'prepareTypedData'
  | 'executeSponsoredTransaction'
  | 'recordSend'
  | 'listTransactions'
  | 'getTransaction'
  | 'getTransactionStatus'
  | 'listEnvironmentTransactions'
  | 'getTransactionDetails';

export function create(deps: TransactionDeps & ConfirmDeps): Module<TransactionOperation> {
  return { handlers: handlers(deps), jobs: [transactionJobs(deps)] };
}

function handlers(deps: TransactionDeps): Pick<Handlers, TransactionOperation> {
  const readDeps = { reads: deps.db.reads, networks: deps.networks };
  return {
    prepareTypedData: ({ caller, body }) => prepareTypedData(deps, caller, body),
    executeSponsoredTransaction: ({ caller, body }) => executeSponsored(deps, caller, body),
    recordSend: (call) => recordSend(deps, call),
    listTransactions: ({ caller, query }) => listOfWallet(deps.db.lists, caller, query),
    getTransaction: ({ caller, params }) => getTransaction(readDeps, caller, params.hashOrId),
    getTransactionStatus: ({ caller, params }) => chainStatus(readDeps, caller, params.hash),
    listEnvironmentTransactions: ({ caller, query }) =>
      listEnvironmentTransactions({ ...readDeps, lists: deps.db.lists }, caller, query),
    getTransactionDetails: ({ caller, params }) => transactionDetails(readDeps, caller, params.hashOrId),
  };
}

const COUNT_TASK = 'count-transaction-history';
const SWEEP_TASK = 'sweep-unconfirmed-transactions';
const FORGET_TASK = 'forget-function-names';

export function transactionJobs(deps: ConfirmDeps): Jobs {
  return {
    handlers: {
      [CONFIRM_TASK]: (toConfirm: ConfirmPayload) => confirm(deps, toConfirm),
      [COUNT_TASK]: async (_: unknown, { signal }) => void (await countHistory(deps.db, signal)),
      [SWEEP_TASK]: () => sweepUnconfirmed(deps.db),
      [FORGET_TASK]: () => deleteUnusedNames(deps.db),
    },
    recurring: [
      { task: COUNT_TASK, everySeconds: 10 },
      { task: SWEEP_TASK, everySeconds: 60 },
      { task: FORGET_TASK, everySeconds: 3_600 },
    ],
  };
}

export { setHashOfRelay as setRelayTransactionHash } from './record-store.ts';
export { transactionOutcomes as relayOutcomes } from './relay-outcome.ts';
