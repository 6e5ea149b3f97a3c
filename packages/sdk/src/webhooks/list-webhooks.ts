import type { endpoints, Webhook } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface ListWebhooksParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of your webhooks, newest first. On a server only: needs the secret key. `webhooks` goes through all
 * pages.
 *
 * @example
 * const { items } = await svc.webhooks.listWebhooks();
 */
export async function listWebhooks(client: Client, params: ListWebhooksParams = {}): Promise<List<Webhook>> {
  return toList(await readWebhookPage(client, params));
}

export function readWebhookPage(client: Client, params: ListWebhooksParams): Promise<Page<Webhook>> {
  const { page, limit } = params;
  return request<typeof endpoints.listWebhooks>(client, {
    route: 'GET /organization/webhooks',
    access: 'secret',
    query: { page, limit },
  });
}
