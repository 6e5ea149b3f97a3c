import type { Handlers } from '../http/call.ts';
import type { Module } from '../http/module.ts';
import { createWallet, prepareCreation } from './create-wallet.ts';
import { type ConfirmUpgradeDeps, walletJobs } from './relay-outcome.ts';
import type { WalletDeps } from './signed-execution.ts';
import { tokenBalance } from './token-balance.ts';
import { updateEncryption } from './update-encryption.ts';
import { executeUpgrade, prepareUpgrade } from './upgrade.ts';
import { newestWallet, recoverCredential, toWallet } from './wallet.ts';

type WalletOperation =
  | 'getWalletByUser'
  | 'prepareWalletCreation'
  | 'createWallet'
  | 'updateEncryptionDetails'
  | 'getTokenBalance'
  | 'recoverCredential'
  | 'prepareWalletUpgrade'
  | 'executeWalletUpgrade';

export function create(deps: WalletDeps & ConfirmUpgradeDeps): Module<WalletOperation> {
  return { handlers: handlers(deps), jobs: [{ handlers: walletJobs(deps), recurring: [] }] };
}

function handlers(deps: WalletDeps): Pick<Handlers, WalletOperation> {
  const { reads } = deps.db;
  return {
    getWalletByUser: async ({ caller, query }) => toWallet(await newestWallet(reads, caller, query.externalUserId)),
    prepareWalletCreation: ({ caller, body }) => prepareCreation(deps, caller, body),
    createWallet: ({ caller, body }) => createWallet(deps, caller, body),
    updateEncryptionDetails: ({ caller, body }) => updateEncryption(deps.db, caller, body),
    getTokenBalance: ({ caller, query }) => tokenBalance(deps, caller, query),
    recoverCredential: ({ caller, query }) => recoverCredential(reads, caller, query.externalUserId),
    prepareWalletUpgrade: ({ caller, body }) => prepareUpgrade(deps, caller, body),
    executeWalletUpgrade: ({ caller, body }) => executeUpgrade(deps, caller, body),
  };
}

export { setRelayTransactionHash, walletOutcomes as relayOutcomes } from './relay-outcome.ts';
