import type { endpoints, Transaction } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface GetSkuPurchaseParams {
  /** Of the purchase, as `purchaseSku` answered it. */
  readonly id: string;
}

/**
 * Reads a purchase. `skuFileNumber` is there with `SUCCESS`. `waitForPurchase` waits for the end.
 *
 * @example
 * const { status, skuFileNumber } = await svc.getSkuPurchase({ id: purchase.id });
 */
export function getSkuPurchase(
  client: Client,
  { id }: GetSkuPurchaseParams,
  bearerToken?: BearerToken,
): Promise<Transaction> {
  return request<typeof endpoints.getSkuPurchase>(client, {
    route: 'GET /sku-purchases/{id}',
    access: 'both',
    params: { id },
    bearerToken,
  });
}
