import type { endpoints, QueryOf, Sku } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface SkuFilters {
  readonly category?: QueryOf<typeof endpoints.listSkus>['category'] | undefined;
  /** The provider's id. */
  readonly provider?: string | undefined;
}

export interface ListSkusParams extends SkuFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
  /** Items to skip; wins over `page`. */
  readonly offset?: number | undefined;
}

/**
 * Reads one page of the services that can be bought. `skus` goes through all pages.
 *
 * @example
 * const { items, total } = await svc.listSkus({ category: 'LUZ' });
 */
export async function listSkus(
  client: Client,
  params: ListSkusParams = {},
  bearerToken?: BearerToken,
): Promise<List<Sku>> {
  return toList(await readSkuPage(client, params, bearerToken));
}

export function readSkuPage(
  client: Client,
  { category, provider, page, limit, offset }: ListSkusParams,
  bearerToken?: BearerToken,
): Promise<Page<Sku>> {
  return request<typeof endpoints.listSkus>(client, {
    route: 'GET /skus',
    access: 'both',
    query: { category, provider, page, limit, offset },
    bearerToken,
  });
}
