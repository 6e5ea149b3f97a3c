import type { Sku } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { readSkuPage, type SkuFilters } from './list-skus.ts';

export interface SkusParams extends SkuFilters, PageOptions {}

/**
 * Goes through all services that can be bought, reading page after page as they are needed.
 *
 * @example
 * for await (const sku of svc.skus({ category: 'STREAMING' })) console.log(sku.name, sku.fixedAmount);
 */
export function skus(
  client: Client,
  params: SkusParams = {},
  bearerToken?: BearerToken,
): AsyncGenerator<Sku, void, undefined> {
  const { category, provider } = params;
  return eachItem((asked) => readSkuPage(client, { category, provider, ...asked }, bearerToken), params);
}
