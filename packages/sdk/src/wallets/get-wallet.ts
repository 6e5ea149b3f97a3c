import type { endpoints, Wallet } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface GetWalletParams {
  /** Your own name for the user. */
  readonly externalUserId: string;
}

/**
 * Reads a user's newest wallet, its private key encrypted. A user without one: SvcApiError `wallet_not_found`.
 *
 * @example
 * const { publicKey, encryptedPrivateKey } = await svc.getWallet({ externalUserId: 'ana' });
 */
export function getWallet(
  client: Client,
  { externalUserId }: GetWalletParams,
  bearerToken?: BearerToken,
): Promise<Wallet> {
  return request<typeof endpoints.getWalletByUser>(client, {
    route: 'GET /svc-wallets/by-user',
    access: 'both',
    query: { externalUserId },
    bearerToken,
  });
}
