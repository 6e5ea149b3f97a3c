import type { Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { isPasskeyKey, readEncryptKey } from '../keys/encrypt-key.ts';
import { createPasskey } from './create-passkey.ts';
import { type PasskeyDetails, type PasskeyOptions, passkeyDetails, withDefaults } from './passkey-options.ts';

export type { PasskeyOptions } from './passkey-options.ts';

export interface NewWalletSecretsParams {
  readonly encryptKey: string;
  readonly usePasskey?: boolean | undefined;
  readonly externalUserId: string;
  readonly passkey?: PasskeyOptions | undefined;
}

export interface NewWalletSecrets {
  /** All that open the wallet: the passkey's secret before the one that the user remembers as a backup. */
  readonly encryptKeys: string[];
  readonly details: PasskeyDetails;
}

/** What a new wallet is to be opened with. With `usePasskey` a passkey is made, and `encryptKey` is the way in without it. */
export async function newWalletSecrets(
  { runtime }: Client,
  { encryptKey, usePasskey = false, externalUserId, passkey = {} }: NewWalletSecretsParams,
): Promise<NewWalletSecrets> {
  // Before the user is asked for anything.
  readEncryptKey(encryptKey);
  if (!usePasskey && isPasskeyKey(encryptKey)) {
    const message = 'encryptKey is the secret of a passkey, which nobody would find again: use usePasskey.';
    throw new SvcInputError('invalid_input', message);
  }
  if (!usePasskey) return { encryptKeys: [encryptKey], details: { authMethod: 'PIN' } };
  const made = await createPasskey(withDefaults(passkey, externalUserId), runtime);
  return { encryptKeys: [made.encryptKey, encryptKey], details: passkeyDetails(made) };
}
