import type { endpoints, Transaction } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface RefundSkuPurchaseParams {
  readonly id: string;
  /** Of a transfer to the payer that you made yourself. It is verified, and nothing is sent. */
  readonly transactionHash?: string | undefined;
}

/**
 * Gives the payment of a failed or cancelled purchase back to its payer, once however often it is asked. `refundStatus` is `REFUNDING`
 * until the transfer is confirmed. On a server only: needs the secret key.
 *
 * @example
 * const { refundStatus, refundTransactionHash } = await svc.refundSkuPurchase({ id: purchase.id });
 */
export function refundSkuPurchase(
  client: Client,
  { id, transactionHash }: RefundSkuPurchaseParams,
): Promise<Transaction> {
  return request<typeof endpoints.refundSkuPurchase>(client, {
    route: 'POST /sku-purchases/{id}/refund',
    access: 'secret',
    params: { id },
    body: { transactionHash },
  });
}
