import type { BearerToken, Client } from '../client/client.ts';
import { SvcPasskeyError } from '../client/errors.ts';
import { recoverCredential } from '../wallets/recover-credential.ts';
import { type UnlockWithPasskeyParams, unlockWithPasskey } from './unlock-with-passkey.ts';

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
