import type { Handlers } from '../http/call.ts';
import type { Jobs, Module } from '../http/module.ts';
import type { OutcomeHandlers } from '../relayer/outcome.ts';
import { type ChainStateDeps, tokenBalance, walletChainState } from './chain-state.ts';
import { createWallet, creationOutcome, prepareCreation } from './create-wallet.ts';
import {
  deleteExpiredEncryptions,
  encryptionHistory,
  purgeEncryptionHistory,
  restoreEncryption,
  updateEncryption,
} from './encryption.ts';
import type { WalletDeps } from './signed-execution.ts';
import { type ConfirmUpgradeDeps, executeUpgrade, prepareUpgrade, upgradeOutcome, walletJobs } from './upgrade.ts';
import { getWalletById, listWallets, newestWallet, recoverCredential, toWallet } from './wallet.ts';

type WalletOperation =
  | 'getWalletByUser'
  | 'prepareWalletCreation'
  | 'createWallet'
  | 'updateEncryptionDetails'
  | 'listEncryptionHistory'
  | 'restoreEncryption'
  | 'purgeEncryptionHistory'
  | 'getTokenBalance'
  | 'recoverCredential'
  | 'prepareWalletUpgrade'
  | 'executeWalletUpgrade'
  | 'listWallets'
  | 'getWalletById'
  | 'getWalletChainState';

export type WalletModuleDeps = WalletDeps & ConfirmUpgradeDeps & ChainStateDeps;

export function create(deps: WalletModuleDeps): Module<WalletOperation> {
  return { handlers: handlers(deps), jobs: [{ handlers: walletJobs(deps), recurring: [] }, encryptionJobs(deps)] };
}

const DELETE_ENCRYPTIONS_TASK = 'delete-replaced-encryptions';

function encryptionJobs({ db }: Pick<WalletDeps, 'db'>): Jobs {
  return {
    handlers: { [DELETE_ENCRYPTIONS_TASK]: (_: unknown, { signal }) => deleteExpiredEncryptions(db, signal) },
    recurring: [{ task: DELETE_ENCRYPTIONS_TASK, everySeconds: 3_600 }],
  };
}

function handlers(deps: WalletModuleDeps): Pick<Handlers, WalletOperation> {
  const { reads } = deps.db;
  return {
    getWalletByUser: async ({ caller, query }) => toWallet(await newestWallet(reads, caller, query.externalUserId)),
    prepareWalletCreation: ({ caller, body }) => prepareCreation(deps, caller, body),
    createWallet: ({ caller, body }) => createWallet(deps, caller, body),
    updateEncryptionDetails: ({ caller, body }) => updateEncryption(deps.db, caller, body),
    listEncryptionHistory: ({ caller, query }) => encryptionHistory(reads, caller, query),
    restoreEncryption: ({ caller, body, transact }) => transact((tx) => restoreEncryption(deps.db, tx, caller, body)),
    purgeEncryptionHistory: ({ caller, query }) => purgeEncryptionHistory(deps.db, caller, query),
    getTokenBalance: ({ caller, query }) => tokenBalance(deps, caller, query),
    recoverCredential: ({ caller, query }) => recoverCredential(reads, caller, query.externalUserId),
    prepareWalletUpgrade: ({ caller, body }) => prepareUpgrade(deps, caller, body),
    executeWalletUpgrade: ({ caller, body }) => executeUpgrade(deps, caller, body),
    listWallets: ({ caller, query }) => listWallets(deps.db.lists, caller, query),
    getWalletById: ({ caller, params }) => getWalletById(reads, caller, params.id),
    getWalletChainState: ({ caller, params }) => walletChainState(deps, caller, params.id),
  };
}

export function relayOutcomes(): Pick<OutcomeHandlers, 'wallet' | 'upgrade'> {
  return { wallet: creationOutcome, upgrade: upgradeOutcome };
}
export { setTransactionHash as setRelayTransactionHash } from './wallet.ts';
