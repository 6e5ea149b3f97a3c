import type { AnswerOf, endpoints } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface PrepareWalletUpgradeParams {
  readonly walletAddress: string;
  /** Default: the latest `SVC` class. */
  readonly targetClassHash?: string | undefined;
}

export type PreparedWalletUpgrade = AnswerOf<typeof endpoints.prepareWalletUpgrade>;

/**
 * Asks for the typed data that a wallet's owner signs to give the wallet another class. On a server only: needs the secret key. The owner
 * signs it with `signWalletUpgrade`, which checks it first; `upgradeWallet` does all of it in one call.
 *
 * @example
 * const { typedData, targetClassHash } = await svc.prepareWalletUpgrade({ walletAddress: earlierWallet.publicKey });
 */
export function prepareWalletUpgrade(
  client: Client,
  { walletAddress, targetClassHash }: PrepareWalletUpgradeParams,
  bearerToken?: BearerToken,
): Promise<PreparedWalletUpgrade> {
  return request<typeof endpoints.prepareWalletUpgrade>(client, {
    route: 'POST /svc-wallets/prepare-upgrade',
    access: 'secret',
    bearerToken,
    body: { walletAddress, targetClassHash },
  });
}
