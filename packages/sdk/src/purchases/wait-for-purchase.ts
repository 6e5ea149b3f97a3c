import type { Transaction, TxStatus } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { type PollOptions, pollUntil } from '../polling/poll-until.ts';
import { type GetSkuPurchaseParams, getSkuPurchase } from './get-sku-purchase.ts';

export interface WaitForPurchaseParams extends GetSkuPurchaseParams, PollOptions {}

const FINAL: ReadonlySet<TxStatus> = new Set(['SUCCESS', 'FAILED', 'CANCELLED'] as const);

/**
 * Waits until a purchase is `SUCCESS`, `FAILED` or `CANCELLED`; all three are answers.
 *
 * @throws SvcConnectionError with code `timeout` when it is not final in time: it goes on, and can be waited for again
 * @example
 * const { status, skuFileNumber } = await svc.waitForPurchase({ id: purchase.id });
 */
export function waitForPurchase(
  client: Client,
  params: WaitForPurchaseParams,
  bearerToken?: BearerToken,
): Promise<Transaction> {
  const { id } = params;
  return pollUntil(client, params, {
    name: `Purchase ${id}`,
    read: () => getSkuPurchase(client, { id }, bearerToken),
    isFinal: ({ status }) => FINAL.has(status),
  });
}
