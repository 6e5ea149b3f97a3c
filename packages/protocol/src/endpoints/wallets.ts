import { endpoint } from '../endpoint.ts';
import { Success } from '../schemas/common.ts';
import * as schema from '../schemas/wallet.ts';

const tag = 'Wallets';

export const getWalletByUser = endpoint({
  operationId: 'getWalletByUser',
  method: 'GET',
  path: '/svc-wallets/by-user',
  tag,
  summary: "Read a user's newest wallet",
  access: 'both',
  role: 'DEVELOPER',
  query: schema.WalletByUserQuery,
  answers: { 200: schema.Wallet },
  errors: ['invalid_request', 'wallet_not_found'],
});

export const prepareWalletCreation = endpoint({
  operationId: 'prepareWalletCreation',
  method: 'POST',
  path: '/svc-wallets/prepare-creation',
  tag,
  summary: 'Get the typed data that the owner signs to create a wallet',
  access: 'both',
  body: schema.PrepareWalletCreation,
  answers: { 200: schema.PreparedWalletCreation },
  errors: ['invalid_request', 'unsupported_chain', 'class_not_allowed', 'chain_not_configured', 'chain_unavailable'],
});

export const createWallet = endpoint({
  operationId: 'createWallet',
  method: 'POST',
  path: '/svc-wallets',
  tag,
  summary: 'Create a wallet without gas',
  access: 'both',
  body: schema.CreateWallet,
  answers: { 200: schema.CreatedWallet },
  errors: [
    'invalid_request',
    'unsupported_chain',
    'address_mismatch',
    'class_not_allowed',
    'invalid_typed_data',
    'typed_data_expired',
    'invalid_signature',
    'wallet_already_exists',
    'transaction_reverted',
    'fee_too_high',
    'sponsorship_limit_reached',
    'chain_not_configured',
    'other_user',
    'chain_unavailable',
  ],
});

export const updateEncryptionDetails = endpoint({
  operationId: 'updateEncryptionDetails',
  method: 'PATCH',
  path: '/svc-wallets/update-encryption-details',
  tag,
  summary: 'Replace the encrypted private key after a change of PIN or passkey',
  access: 'both',
  body: schema.UpdateEncryption,
  answers: { 200: Success },
  errors: ['invalid_request', 'wallet_ambiguous', 'encryption_history_full', 'other_user', 'wallet_not_found'],
});

export const listEncryptionHistory = endpoint({
  operationId: 'listEncryptionHistory',
  method: 'GET',
  path: '/svc-wallets/encryption-history',
  tag,
  summary: 'Read the encrypted private keys of a wallet that were replaced in the last 7 days',
  access: 'secret',
  role: 'DEVELOPER',
  query: schema.EncryptionHistoryQuery,
  answers: { 200: schema.EncryptionHistory },
  errors: ['invalid_request', 'wallet_ambiguous', 'wallet_not_found'],
});

export const restoreEncryption = endpoint({
  operationId: 'restoreEncryption',
  method: 'POST',
  path: '/svc-wallets/restore-encryption',
  tag,
  summary: 'Restore a replaced encrypted private key',
  description: 'The one that it replaces is kept for 7 days, too.',
  access: 'secret',
  body: schema.RestoreEncryption,
  answers: { 200: Success },
  errors: ['invalid_request', 'wallet_ambiguous', 'wallet_not_found', 'encryption_not_found'],
});

export const purgeEncryptionHistory = endpoint({
  operationId: 'purgeEncryptionHistory',
  method: 'DELETE',
  path: '/svc-wallets/encryption-history',
  tag,
  summary: 'Delete the replaced encrypted private keys of a wallet now',
  access: 'secret',
  query: schema.EncryptionHistoryQuery,
  answers: { 200: schema.EncryptionHistoryPurged },
  errors: ['invalid_request', 'wallet_ambiguous', 'wallet_not_found'],
});

export const getTokenBalance = endpoint({
  operationId: 'getTokenBalance',
  method: 'GET',
  path: '/svc-wallets/token-balance',
  tag,
  summary: "Read a wallet's balance of one token",
  access: 'both',
  query: schema.TokenBalanceQuery,
  answers: { 200: schema.TokenBalance },
  errors: [
    'invalid_request',
    'unsupported_chain',
    'token_not_supported',
    'chain_not_configured',
    'wallet_not_found',
    'chain_unavailable',
  ],
});

export const recoverCredential = endpoint({
  operationId: 'recoverCredential',
  method: 'GET',
  path: '/svc-wallets/credential-recovery',
  tag,
  summary: "Read the passkey details kept with a user's wallet",
  access: 'both',
  role: 'DEVELOPER',
  query: schema.WalletByUserQuery,
  answers: { 200: schema.CredentialRecovery },
  errors: ['invalid_request', 'wallet_not_found'],
});

export const prepareWalletUpgrade = endpoint({
  operationId: 'prepareWalletUpgrade',
  method: 'POST',
  path: '/svc-wallets/prepare-upgrade',
  tag,
  summary: 'Get the typed data that the owner signs to upgrade a wallet',
  access: 'secret',
  body: schema.PrepareWalletUpgrade,
  answers: { 200: schema.PreparedWalletUpgrade },
  errors: [
    'invalid_request',
    'class_not_allowed',
    'transaction_reverted',
    'wallet_not_deployed',
    'chain_not_configured',
    'wallet_not_found',
    'chain_unavailable',
  ],
});

export const executeWalletUpgrade = endpoint({
  operationId: 'executeWalletUpgrade',
  method: 'POST',
  path: '/svc-wallets/upgrade',
  tag,
  summary: "Upgrade a wallet's class without gas",
  access: 'secret',
  body: schema.ExecuteWalletUpgrade,
  answers: { 200: schema.WalletUpgraded },
  errors: [
    'invalid_request',
    'class_not_allowed',
    'wallet_not_deployed',
    'invalid_typed_data',
    'typed_data_expired',
    'invalid_signature',
    'transaction_reverted',
    'fee_too_high',
    'sponsorship_limit_reached',
    'chain_not_configured',
    'wallet_not_found',
    'chain_unavailable',
  ],
});

export const listWallets = endpoint({
  operationId: 'listWallets',
  method: 'GET',
  path: '/svc-wallets',
  tag,
  summary: 'List the wallets of your environment, newest first',
  access: 'secret',
  query: schema.WalletListQuery,
  answers: { 200: schema.ListedWalletPage },
  errors: ['invalid_request'],
});

export const getWalletById = endpoint({
  operationId: 'getWalletById',
  method: 'GET',
  path: '/svc-wallets/{id}',
  tag,
  summary: 'Read a wallet by its id, without its encrypted private key',
  access: 'secret',
  params: schema.WalletIdParams,
  answers: { 200: schema.ListedWallet },
  errors: ['wallet_not_found'],
});

export const getWalletChainState = endpoint({
  operationId: 'getWalletChainState',
  method: 'GET',
  path: '/svc-wallets/{id}/chain-state',
  tag,
  summary: "Read a wallet's balances, class, sessions and spending policies from the chain",
  access: 'secret',
  params: schema.WalletIdParams,
  answers: { 200: schema.WalletChainState },
  errors: ['chain_not_configured', 'wallet_not_found', 'chain_unavailable'],
});
