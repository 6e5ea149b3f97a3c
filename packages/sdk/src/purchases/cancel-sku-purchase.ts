import type { endpoints, Transaction } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface CancelSkuPurchaseParams {
  readonly id: string;
}

/**
 * Stops a purchase while it is `PENDING`: its provider is not called any more, and what was paid is due for refund. On a server only: needs
 * the secret key.
 *
 * @example
 * const { status, refundStatus } = await svc.cancelSkuPurchase({ id: purchase.id });
 */
export function cancelSkuPurchase(client: Client, { id }: CancelSkuPurchaseParams): Promise<Transaction> {
  return request<typeof endpoints.cancelSkuPurchase>(client, {
    route: 'POST /sku-purchases/{id}/cancel',
    access: 'secret',
    params: { id },
  });
}
