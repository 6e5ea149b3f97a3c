import type { AnswerOf, endpoints } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface SyncOnChainParams {
  readonly walletAddress: string;
}

/** `synced`: how many were new to the history; `total`: how many the chain has. */
export type SyncedOnChain = AnswerOf<typeof endpoints.syncOnChain>;

/**
 * Looks on the chain for a wallet's transfers that the history does not have, such as those from before the service knew the wallet.
 *
 * @example
 * const { synced, total } = await svc.syncOnChain({ walletAddress: wallet.publicKey });
 */
export function syncOnChain(
  client: Client,
  { walletAddress }: SyncOnChainParams,
  bearerToken?: BearerToken,
): Promise<SyncedOnChain> {
  return request<typeof endpoints.syncOnChain>(client, {
    route: 'POST /transactions/sync-on-chain',
    access: 'both',
    body: { walletAddress },
    bearerToken,
  });
}
