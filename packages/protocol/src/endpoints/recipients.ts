import { endpoint } from '../endpoint.ts';
import { Success } from '../schemas/common.ts';
import { CodeParams } from '../schemas/gift.ts';
import { NewPasskeyOptions } from '../schemas/member.ts';
import * as schema from '../schemas/recipient.ts';
import { PreparedWalletCreation } from '../schemas/wallet.ts';

const tag = 'Recipients';
const codeErrors = [
  { code: 'gift_not_found', status: 400 },
  'gift_expired',
  'gift_limit_reached',
  'gift_inactive',
  'gift_not_started',
  'recipient_wallets_off',
  'chain_not_configured',
  'proof_of_work_required',
  'invalid_proof_of_work',
] as const;

export const getRecipientWalletOptions = endpoint({
  operationId: 'getRecipientWalletOptions',
  method: 'POST',
  path: '/gifts/claim/{code}/wallet/options',
  tag,
  summary: 'Begin a wallet for a recipient who has none',
  description: 'The code is the credential. Nothing is stored.',
  access: 'sign-in',
  params: CodeParams,
  answers: { 200: schema.RecipientWalletOptions },
  errors: [...codeErrors, 'public_key_required'],
});

export const prepareRecipientWallet = endpoint({
  operationId: 'prepareRecipientWallet',
  method: 'POST',
  path: '/gifts/claim/{code}/wallet/prepare',
  tag,
  summary: 'Get the typed data that the owner signs',
  access: 'sign-in',
  params: CodeParams,
  body: schema.PrepareRecipientWallet,
  answers: { 200: PreparedWalletCreation },
  errors: ['invalid_request', ...codeErrors, 'chain_unavailable'],
});

export const createRecipientWallet = endpoint({
  operationId: 'createRecipientWallet',
  method: 'POST',
  path: '/gifts/claim/{code}/wallet',
  tag,
  summary: 'Create a wallet with a gift code and pay the gift into it',
  description:
    'Stores the wallet, its sign-in and the redeem together: all of them or nothing, one wallet for each redemption that is left. ' +
    "The deployment counts on the organisation's sponsorship. Send a passkey or a recovery secret, or both. " +
    'A repetition with the same publicKey answers what there is.',
  access: 'sign-in',
  params: CodeParams,
  body: schema.CreateRecipientWallet,
  shownOnce: ['token'],
  answers: { 201: schema.RecipientWalletCreated },
  errors: [
    'invalid_request',
    ...codeErrors,
    'public_key_required',
    'invalid_passkey',
    'passkeys_unavailable',
    'wallet_already_exists',
    'address_mismatch',
    'class_not_allowed',
    'invalid_typed_data',
    'typed_data_expired',
    'invalid_signature',
    'transaction_reverted',
    'fee_too_high',
    'sponsorship_limit_reached',
    'sponsorship_not_allowed',
    'chain_unavailable',
  ],
});

export const createRecipientChallenge = endpoint({
  operationId: 'createRecipientChallenge',
  method: 'POST',
  path: '/recipient/sign-in/challenge',
  tag,
  summary: 'Get a challenge to sign in to a wallet with a passkey',
  access: 'sign-in',
  answers: { 200: schema.RecipientChallenge },
  errors: ['passkeys_unavailable'],
});

export const signInRecipient = endpoint({
  operationId: 'signInRecipient',
  method: 'POST',
  path: '/recipient/sign-in',
  tag,
  summary: 'Sign in to a wallet with its passkey or its recovery code',
  description: 'The token is for this wallet alone and valid for 15 minutes.',
  access: 'sign-in',
  startsSession: true,
  body: schema.SignInRecipient,
  answers: { 200: schema.RecipientSession },
  errors: ['invalid_request', 'invalid_passkey', 'passkeys_unavailable', 'invalid_recovery_code'],
});

export const getRecipient = endpoint({
  operationId: 'getRecipient',
  method: 'GET',
  path: '/recipient',
  tag,
  summary: 'Read the recipient of the token',
  access: 'recipient',
  answers: { 200: schema.Recipient },
  errors: ['wallet_not_found'],
});

export const createRecipientPasskeyChallenge = endpoint({
  operationId: 'createRecipientPasskeyChallenge',
  method: 'POST',
  path: '/recipient/passkeys/challenge',
  tag,
  summary: 'Get the options to add a passkey',
  access: 'recipient',
  answers: { 200: NewPasskeyOptions },
  errors: ['wallet_not_found', 'passkeys_unavailable', 'passkey_limit_reached'],
});

export const registerRecipientPasskey = endpoint({
  operationId: 'registerRecipientPasskey',
  method: 'POST',
  path: '/recipient/passkeys',
  tag,
  summary: 'Add a passkey that signs in to the wallet',
  description: 'Encrypt the key for it first, with update-encryption-details.',
  access: 'recipient',
  body: schema.RegisterRecipientPasskey,
  answers: { 201: schema.Recipient },
  errors: ['invalid_request', 'wallet_not_found', 'invalid_passkey', 'passkeys_unavailable', 'passkey_limit_reached'],
});

export const setRecoveryCode = endpoint({
  operationId: 'setRecoveryCode',
  method: 'POST',
  path: '/recipient/recovery-code',
  tag,
  summary: 'Set the recovery code that signs in to the wallet; the one before stops',
  description: 'Encrypt the key for it first, with update-encryption-details.',
  access: 'recipient',
  body: schema.SetRecoveryCode,
  answers: { 200: schema.Recipient },
  errors: ['invalid_request', 'wallet_not_found'],
});

export const deleteRecipient = endpoint({
  operationId: 'deleteRecipient',
  method: 'DELETE',
  path: '/recipient',
  tag,
  summary: 'Delete what the service knows of the recipient, the encrypted key included',
  description: 'The account stays on the chain. Without an exported key its money is lost, so that is asked for.',
  access: 'recipient',
  query: schema.DeleteRecipientQuery,
  answers: { 200: Success },
  errors: ['invalid_request', 'wallet_not_found', 'wallet_not_empty', 'chain_unavailable'],
});
