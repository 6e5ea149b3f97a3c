import type { AnswerOf, endpoints } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface ExecuteWalletUpgradeParams {
  readonly walletAddress: string;
  /** As `prepareWalletUpgrade` answered it. */
  readonly typedData: Record<string, unknown>;
  /** The owner's, over the typed data, as `signWalletUpgrade` gives it: `[r, s]`. */
  readonly signature: readonly string[];
}

export type WalletUpgraded = AnswerOf<typeof endpoints.executeWalletUpgrade>;

/**
 * Has a signed upgrade executed, without gas. On a server only: needs the secret key. The address, the money and the history stay.
 *
 * @example
 * const walletAddress = earlierWallet.publicKey;
 * const { typedData, currentWalletType } = await svc.prepareWalletUpgrade({ walletAddress });
 * // In the browser of the wallet's owner, without the secret key:
 * const signature = await svc.signWalletUpgrade({ encryptKey, wallet: earlierWallet, typedData, currentWalletType });
 * // On the server again:
 * const { newWalletType } = await svc.executeWalletUpgrade({ walletAddress, typedData, signature });
 */
export function executeWalletUpgrade(
  client: Client,
  { walletAddress, typedData, signature }: ExecuteWalletUpgradeParams,
  bearerToken?: BearerToken,
): Promise<WalletUpgraded> {
  return request<typeof endpoints.executeWalletUpgrade>(client, {
    route: 'POST /svc-wallets/upgrade',
    access: 'secret',
    bearerToken,
    body: { walletAddress, typedData, signature: [...signature] },
  });
}
