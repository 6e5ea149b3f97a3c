import type { Transaction } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { readPurchasePage, type SkuPurchaseFilters } from './list-sku-purchases.ts';

export interface SkuPurchasesParams extends SkuPurchaseFilters, PageOptions {}

/**
 * Goes through the purchases of all your users, newest first, reading page after page as they are needed. On a server only: needs the
 * secret key.
 *
 * @example
 * for await (const { id, failureReason } of svc.skuPurchases({ refundStatus: 'DUE' })) console.log(id, failureReason);
 */
export function skuPurchases(
  client: Client,
  params: SkuPurchasesParams = {},
): AsyncGenerator<Transaction, void, undefined> {
  const { status, refundStatus } = params;
  return eachItem((asked) => readPurchasePage(client, { status, refundStatus, ...asked }), params);
}
