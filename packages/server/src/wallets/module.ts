import type { Handlers } from '../http/call.ts';
import { createWallet, prepareCreation } from './create-wallet.ts';
import type { WalletParts } from './signed-execution.ts';
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

export function walletHandlers(parts: WalletParts): Pick<Handlers, WalletOperation> {
  const { reads } = parts.db;
  return {
    getWalletByUser: async ({ caller, query }) => toWallet(await newestWallet(reads, caller, query.externalUserId)),
    prepareWalletCreation: ({ caller, body }) => prepareCreation(parts, caller, body),
    createWallet: ({ caller, body }) => createWallet(parts, caller, body),
    updateEncryptionDetails: ({ caller, body }) => updateEncryption(parts.db, caller, body),
    getTokenBalance: ({ caller, query }) => tokenBalance(parts, caller, query),
    recoverCredential: ({ caller, query }) => recoverCredential(reads, caller, query.externalUserId),
    prepareWalletUpgrade: ({ caller, body }) => prepareUpgrade(parts, caller, body),
    executeWalletUpgrade: ({ caller, body }) => executeUpgrade(parts, caller, body),
  };
}
