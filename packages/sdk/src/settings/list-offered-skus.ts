import type { endpoints, OfferedSku } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface ListOfferedSkusParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the deployment's services and your own, offered or not. On a server only: needs the secret key.
 * `offeredSkus` goes through all pages.
 *
 * @example
 * const { items } = await svc.settings.listOfferedSkus({ limit: 50 });
 */
export async function listOfferedSkus(client: Client, params: ListOfferedSkusParams = {}): Promise<List<OfferedSku>> {
  return toList(await readOfferedSkuPage(client, params));
}

export function readOfferedSkuPage(client: Client, params: ListOfferedSkusParams): Promise<Page<OfferedSku>> {
  const { page, limit } = params;
  return request<typeof endpoints.listOfferedSkus>(client, {
    route: 'GET /organization/skus',
    access: 'secret',
    query: { page, limit },
  });
}
