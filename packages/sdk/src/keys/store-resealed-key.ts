import type { BodyOf, endpoints } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';
import { readAddress } from '../signing/read-address.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { proveSealed } from './prove-sealed.ts';
import type { ResealedKey } from './reseal-key.ts';

type Update = BodyOf<typeof endpoints.updateEncryptionDetails>;

export interface KeyToStore extends ResealedKey {
  readonly externalUserId: string;
  readonly wallet: SvcWallet;
  /** All that were newly given: each must open the envelope before the service hears of it. */
  readonly encryptKeys: readonly string[];
  readonly details: Pick<Update, 'authMethod' | 'credentialId' | 'prfSupported' | 'deviceType'>;
}

/** Replaces a wallet's ciphertext at the service, once it is proven that the new one opens. Answers the wallet with it. */
export async function storeResealedKey<W extends SvcWallet>(
  client: Client,
  { externalUserId, wallet, privateKey, envelope, encryptKeys, details }: KeyToStore & { readonly wallet: W },
  bearerToken?: BearerToken,
): Promise<W> {
  const boundTo = readAddress(wallet.publicKey, 'wallet.publicKey');
  await proveSealed(envelope, { privateKey, boundTo, encryptKeys });
  await request<typeof endpoints.updateEncryptionDetails>(client, {
    route: 'PATCH /svc-wallets/update-encryption-details',
    access: 'both',
    body: { externalUserId, publicKey: wallet.publicKey, newEncryptedPrivateKey: envelope, ...details },
    bearerToken,
  });
  return { ...wallet, encryptedPrivateKey: envelope };
}
