import type { BearerToken, Client } from './client/client.ts';
import { SvcInputError, SvcPasskeyError } from './client/errors.ts';
import { readAddress, type SvcWallet } from './client/input.ts';
import { storeResealedKey } from './keys/change-encrypt-key.ts';
import { readEncryptKey } from './keys/cipher.ts';
import { openWalletKey, sealKey } from './keys/seal.ts';
import {
  createProvenPasskey,
  type PasskeyOptions,
  passkeyDetails,
  type UnlockWithPasskeyParams,
  unlockWithPasskey,
  withDefaults,
} from './passkeys/create-passkey.ts';
import { recoverCredential } from './wallets.ts';

export interface UnlockParams extends Omit<UnlockWithPasskeyParams, 'credentialId'> {
  readonly externalUserId: string;
}

/**
 * Asks the service which passkey opens the user's newest wallet, has the user confirm with it, and answers the `encryptKey`. A service
 * that names another passkey gains nothing: the key of that one does not open the wallet.
 *
 * The newest wallet only: for an earlier one of the same user keep its `credentialId`, and call `unlockWithPasskey` with it.
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
  /** Opens the wallet now, and no longer afterwards, unless it is the backup too. */
  readonly encryptKey: string;
  /** Opens the wallet beside the passkey. Without one, who loses the passkey has lost the wallet. */
  readonly backupEncryptKey?: string | undefined;
  readonly passkey?: PasskeyOptions | undefined;
}

export interface ChangedToPasskey<W extends SvcWallet = SvcWallet> {
  /** With its new ciphertext. */
  readonly wallet: W;
  readonly credentialId: string;
}

/**
 * Makes a passkey and encrypts a wallet's private key for it, in place of all that opened the wallet before. Also the way from one
 * passkey to another. The user confirms twice: to make the passkey, and to use it. The service is asked only after the new ciphertext was
 * decrypted once with what that use gave, and once with the backup; after an error the wallet opens as before.
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
  if (backupEncryptKey !== undefined) readEncryptKey(backupEncryptKey);
  // First of all: with a wrong encryptKey no passkey must come into being.
  const privateKey = await openWalletKey({ wallet, encryptKey });
  const made = await createProvenPasskey(withDefaults(passkey, externalUserId), client.runtime);
  const encryptKeys = [made.encryptKey, ...(backupEncryptKey === undefined ? [] : [backupEncryptKey])];
  const boundTo = readAddress(wallet.publicKey, 'wallet.publicKey');
  const envelope = await sealKey({ privateKey, boundTo, encryptKeys }, client.runtime);
  const details = { ...passkeyDetails(made), deviceType: made.deviceType ?? null };
  const change = { externalUserId, wallet, privateKey, envelope, encryptKeys, details };
  return { wallet: await storeResealedKey(client, change, bearerToken), credentialId: made.credentialId };
}
