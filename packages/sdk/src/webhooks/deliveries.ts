import type { Delivery } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { type DeliveryFilters, readDeliveryPage } from './list-deliveries.ts';

export interface DeliveriesParams extends DeliveryFilters, PageOptions {}

/**
 * Goes through the deliveries of a webhook, newest first, page after page. On a server only: needs the secret key.
 *
 * @example
 * for await (const { eventType, state } of svc.webhooks.deliveries({ id: webhook.id })) console.log(eventType, state);
 */
export function deliveries(client: Client, params: DeliveriesParams): AsyncGenerator<Delivery, void, undefined> {
  const { id, state, eventId } = params;
  return eachItem((asked) => readDeliveryPage(client, { id, state, eventId, ...asked }), params);
}
