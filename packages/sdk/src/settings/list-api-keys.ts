import type { ApiKey, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface ListApiKeysParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the keys of your environment, newest first, secret ones masked. On a server only: needs the secret
 * key. `apiKeys` goes through all pages.
 *
 * @example
 * const { items } = await svc.settings.listApiKeys({ limit: 50 });
 */
export async function listApiKeys(client: Client, params: ListApiKeysParams = {}): Promise<List<ApiKey>> {
  return toList(await readApiKeyPage(client, params));
}

export function readApiKeyPage(client: Client, params: ListApiKeysParams): Promise<Page<ApiKey>> {
  const { page, limit } = params;
  return request<typeof endpoints.listApiKeys>(client, {
    route: 'GET /organization/keys',
    access: 'secret',
    query: { page, limit },
  });
}
