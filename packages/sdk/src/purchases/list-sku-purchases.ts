import type { endpoints, RefundStatus, Transaction, TxStatus } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface SkuPurchaseFilters {
  readonly status?: TxStatus | undefined;
  /** `DUE`: what waits for a refund. */
  readonly refundStatus?: RefundStatus | undefined;
}

export interface ListSkuPurchasesParams extends SkuPurchaseFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the purchases of all your users, newest first. On a server only: needs the secret key. `skuPurchases` goes through
 * all pages.
 *
 * @example
 * const { items, total } = await svc.listSkuPurchases({ status: 'PROCESSING' });
 */
export async function listSkuPurchases(
  client: Client,
  params: ListSkuPurchasesParams = {},
): Promise<List<Transaction>> {
  return toList(await readPurchasePage(client, params));
}

export function readPurchasePage(client: Client, params: ListSkuPurchasesParams): Promise<Page<Transaction>> {
  const { status, refundStatus, page, limit } = params;
  return request<typeof endpoints.listSkuPurchases>(client, {
    route: 'GET /sku-purchases',
    access: 'secret',
    query: { status, refundStatus, page, limit },
  });
}
