import type { Delivery, DeliveryState, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface DeliveryFilters {
  /** Of the webhook. */
  readonly id: string;
  readonly state?: DeliveryState | undefined;
  /** Only of this event. */
  readonly eventId?: string | undefined;
}

export interface ListDeliveriesParams extends DeliveryFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the deliveries of a webhook, newest first. On a server only: needs the secret key. `deliveries`
 * goes through all pages.
 *
 * @example
 * const { items } = await svc.webhooks.listDeliveries({ id: webhook.id, state: 'FAILED' });
 */
export async function listDeliveries(client: Client, params: ListDeliveriesParams): Promise<List<Delivery>> {
  return toList(await readDeliveryPage(client, params));
}

export function readDeliveryPage(client: Client, params: ListDeliveriesParams): Promise<Page<Delivery>> {
  const { id, state, eventId, page, limit } = params;
  return request<typeof endpoints.listDeliveries>(client, {
    route: 'GET /organization/webhooks/{id}/deliveries',
    access: 'secret',
    params: { id },
    query: { state, eventId, page, limit },
  });
}
