import type { AnswerOf, endpoints, ReplacedEncryption } from '@svc/protocol';
import type { BearerToken, Client } from './client/client.ts';
import { SvcInputError, SvcPasskeyError } from './client/errors.ts';
import { request } from './client/request.ts';
import { readAddress, type SvcWallet } from './client/values.ts';
import { storeResealedKey } from './keys/change-encrypt-key.ts';
import { readEncryptKey } from './keys/cipher.ts';
import { openWalletKey, sealKey } from './keys/seal.ts';
import { requireStrongEncryptKey } from './keys/secrets.ts';
import {
  createProvenPasskey,
  type PasskeyOptions,
  passkeyDetails,
  type UnlockWithPasskeyParams,
  unlockWithPasskey,
  withDefaults,
} from './passkeys/passkeys.ts';
import { recoverCredential } from './wallets.ts';

export interface EncryptionHistoryParams {
  readonly externalUserId: string;
  /** The wallet's address. Required when the user has several wallets. */
  readonly publicKey?: string | undefined;
}

/** The wallet's address, and its replaced encryptions, newest first. */
export type EncryptionHistory = AnswerOf<typeof endpoints.listEncryptionHistory>;

/**
 * Reads the encrypted private keys of a wallet that were replaced in the last 7 days, with what opened them. Server
 * only: needs the secret key.
 *
 * @example
 * const { data } = await svc.getEncryptionHistory({ externalUserId, publicKey: wallet.publicKey });
 * for (const { id, replacedAt, replacedBy } of data) console.log(id, replacedAt, replacedBy);
 */
export function getEncryptionHistory(
  client: Client,
  { externalUserId, publicKey }: EncryptionHistoryParams,
): Promise<EncryptionHistory> {
  return request<typeof endpoints.listEncryptionHistory>(client, {
    route: 'GET /svc-wallets/encryption-history',
    access: 'secret',
    query: { externalUserId, publicKey },
  });
}

export interface RestoreEncryptionParams extends EncryptionHistoryParams {
  /** Of an entry of `getEncryptionHistory`. */
  readonly id: ReplacedEncryption['id'];
}

export type EncryptionRestored = AnswerOf<typeof endpoints.restoreEncryption>;

/**
 * Restores a replaced encrypted private key: the wallet opens again with the PIN, passphrase or passkey of then. The
 * one that it replaces is kept for 7 days, too. Server only: needs the secret key.
 *
 * @example
 * await svc.changeEncryptKey({ externalUserId, wallet, encryptKey, newEncryptKey: 'forgotten at once' });
 * const { data } = await svc.getEncryptionHistory({ externalUserId, publicKey: wallet.publicKey });
 * await svc.restoreEncryption({ externalUserId, publicKey: wallet.publicKey, id: data[0].id });
 */
export function restoreEncryption(
  client: Client,
  { externalUserId, publicKey, id }: RestoreEncryptionParams,
): Promise<EncryptionRestored> {
  return request<typeof endpoints.restoreEncryption>(client, {
    route: 'POST /svc-wallets/restore-encryption',
    access: 'secret',
    body: { externalUserId, publicKey, id },
  });
}

/** How many encryptions were deleted. */
export type EncryptionHistoryPurged = AnswerOf<typeof endpoints.purgeEncryptionHistory>;

/**
 * Deletes the replaced encrypted private keys of a wallet at once, for example after a PIN became known to others.
 * They cannot be restored any more. Server only: needs the secret key.
 *
 * @example
 * const { deleted } = await svc.purgeEncryptionHistory({ externalUserId, publicKey: wallet.publicKey });
 */
export function purgeEncryptionHistory(
  client: Client,
  { externalUserId, publicKey }: EncryptionHistoryParams,
): Promise<EncryptionHistoryPurged> {
  return request<typeof endpoints.purgeEncryptionHistory>(client, {
    route: 'DELETE /svc-wallets/encryption-history',
    access: 'secret',
    query: { externalUserId, publicKey },
  });
}

export interface UnlockParams extends Omit<UnlockWithPasskeyParams, 'credentialId'> {
  readonly externalUserId: string;
}

/**
 * Asks the service which passkey opens the user's newest wallet, has the user confirm with it, and returns the
 * `encryptKey`. If the service names a wrong passkey, its key does not open the wallet.
 *
 * For an earlier wallet of the same user, store its `credentialId` and call `unlockWithPasskey`.
 *
 * @example
 * const encryptKey = await svc.passkeys.unlock({ externalUserId });
 */
export async function unlock(
  client: Client,
  { externalUserId, rpId, credentials }: UnlockParams,
  bearerToken?: BearerToken,
): Promise<string> {
  const { credentialId } = await recoverCredential(client, { externalUserId }, bearerToken);
  if (credentialId === null) {
    throw new SvcPasskeyError(
      'passkey_not_found',
      "The user's wallet has no passkey: it opens with a PIN or passphrase.",
    );
  }
  return unlockWithPasskey({ credentialId, rpId, credentials }, client.runtime);
}

export interface ChangeToPasskeyParams<W extends SvcWallet = SvcWallet> {
  readonly externalUserId: string;
  readonly wallet: W;
  /** Opens the wallet now; no longer afterwards, unless it is also the backup. */
  readonly encryptKey: string;
  /** Opens the wallet beside the passkey. Without it, losing the passkey means losing the wallet. */
  readonly backupEncryptKey?: string | undefined;
  readonly passkey?: PasskeyOptions | undefined;
}

export interface ChangedToPasskey<W extends SvcWallet = SvcWallet> {
  /** With the new ciphertext. */
  readonly wallet: W;
  readonly credentialId: string;
}

/**
 * Creates a passkey and encrypts a wallet's private key for it, replacing everything that opened the wallet before.
 * Also changes one passkey to another. The user confirms twice: to create the passkey, and to use it. The new
 * ciphertext is stored only after it was decrypted with the passkey and with the backup; after an error the wallet
 * opens as before.
 *
 * @example
 * const { wallet: changed } = await svc.passkeys.changeTo({ externalUserId, wallet, encryptKey, backupEncryptKey: 'a long passphrase' });
 */
export async function changeToPasskey<W extends SvcWallet>(
  client: Client,
  { externalUserId, wallet, encryptKey, backupEncryptKey, passkey = {} }: ChangeToPasskeyParams<W>,
  bearerToken?: BearerToken,
): Promise<ChangedToPasskey<W>> {
  if (wallet.walletType === 'READY') throw new SvcInputError('invalid_input', 'READY wallets have no passkeys.');
  if (backupEncryptKey !== undefined) {
    readEncryptKey(backupEncryptKey);
    await requireStrongEncryptKey(client, backupEncryptKey);
  }
  // First: a wrong encryptKey must not leave a passkey behind.
  const privateKey = await openWalletKey({ wallet, encryptKey });
  const made = await createProvenPasskey(withDefaults(passkey, externalUserId), client.runtime);
  const encryptKeys = [made.encryptKey, ...(backupEncryptKey === undefined ? [] : [backupEncryptKey])];
  const boundTo = readAddress(wallet.publicKey, 'wallet.publicKey');
  const envelope = await sealKey({ privateKey, boundTo, encryptKeys }, client.runtime);
  const details = { ...passkeyDetails(made), deviceType: made.deviceType ?? null };
  const change = { externalUserId, wallet, privateKey, envelope, encryptKeys, details };
  return { wallet: await storeResealedKey(client, change, bearerToken), credentialId: made.credentialId };
}
