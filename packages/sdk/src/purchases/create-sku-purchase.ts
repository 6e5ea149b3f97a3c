import type { BodyOf, endpoints, Transaction } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export type CreateSkuPurchaseParams = Readonly<BodyOf<typeof endpoints.createSkuPurchase>> & {
  /** Default: a new one. A payment buys once whatever the key. */
  readonly idempotencyKey?: string | undefined;
};

/**
 * Records a purchase that was paid already. `purchaseSku` pays and records in one; this is for payments that were made in another way.
 * The same payment again answers the same purchase.
 *
 * @example
 * const recorded = await svc.createSkuPurchase({
 *   transactionHash,
 *   walletAddress: wallet.publicKey,
 *   skuId: 'telcel-recarga-100',
 *   skuReference: '5512345678',
 *   currencyAmount: 100,
 *   chain: 'STARKNET',
 *   token: 'USDC',
 * });
 */
export function createSkuPurchase(
  client: Client,
  { idempotencyKey, ...body }: CreateSkuPurchaseParams,
  bearerToken?: BearerToken,
): Promise<Transaction> {
  return request<typeof endpoints.createSkuPurchase>(client, {
    route: 'POST /sku-purchases',
    access: 'both',
    body,
    bearerToken,
    idempotencyKey,
  });
}
