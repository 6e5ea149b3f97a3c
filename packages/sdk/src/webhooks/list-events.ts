import type { Event, EventType, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface EventFilters {
  readonly type?: EventType | undefined;
}

export interface ListEventsParams extends EventFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of what happened in your environment, newest first. On a server only: needs the secret key. `events`
 * goes through all pages.
 *
 * @example
 * const { items } = await svc.webhooks.listEvents({ type: 'sku-purchase.failed' });
 */
export async function listEvents(client: Client, params: ListEventsParams = {}): Promise<List<Event>> {
  return toList(await readEventPage(client, params));
}

export function readEventPage(client: Client, params: ListEventsParams): Promise<Page<Event>> {
  const { type, page, limit } = params;
  return request<typeof endpoints.listEvents>(client, {
    route: 'GET /organization/events',
    access: 'secret',
    query: { type, page, limit },
  });
}
