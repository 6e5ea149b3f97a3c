import type { BearerToken, Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { isPasskeyKey } from './encrypt-key.ts';
import { resealKey } from './reseal-key.ts';
import { storeResealedKey } from './store-resealed-key.ts';

export interface ChangeEncryptKeyParams<W extends SvcWallet = SvcWallet> {
  readonly externalUserId: string;
  readonly wallet: W;
  /** Opens the wallet now, and no longer afterwards. */
  readonly encryptKey: string;
  readonly newEncryptKey: string;
}

const NO_PASSKEY = { authMethod: 'PIN', credentialId: null, prfSupported: null, deviceType: null };

/**
 * Changes the PIN or passphrase of a wallet, and answers the wallet with its new ciphertext. Whatever else opens the wallet, a passkey or a
 * backup, goes on doing so. A wallet in the old format comes out in the new one, also with `newEncryptKey` the same as before. The service
 * is asked only after the new ciphertext was decrypted once; if it then cannot be reached, read the wallet again to see which one holds.
 *
 * @example
 * const changed = await svc.changeEncryptKey({ externalUserId, wallet, encryptKey, newEncryptKey: 'a longer passphrase' });
 */
export async function changeEncryptKey<W extends SvcWallet>(
  client: Client,
  { externalUserId, wallet, encryptKey, newEncryptKey }: ChangeEncryptKeyParams<W>,
  bearerToken?: BearerToken,
): Promise<W> {
  if (isPasskeyKey(newEncryptKey)) {
    throw new SvcInputError('invalid_input', 'Use changeToPasskey, which also stores how the passkey is found again.');
  }
  const resealed = await resealKey({ wallet, encryptKey, newEncryptKey }, client.runtime);
  const details = isPasskeyKey(encryptKey) ? NO_PASSKEY : {};
  return storeResealedKey(
    client,
    { externalUserId, wallet, ...resealed, encryptKeys: [newEncryptKey], details },
    bearerToken,
  );
}
