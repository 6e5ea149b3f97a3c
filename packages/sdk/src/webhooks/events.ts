import type { Event } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { type EventFilters, readEventPage } from './list-events.ts';

export interface EventsParams extends EventFilters, PageOptions {}

/**
 * Goes through what happened in your environment, newest first, page after page. On a server only: needs the secret
 * key.
 *
 * @example
 * for await (const { type, timestamp } of svc.webhooks.events()) console.log(timestamp, type);
 */
export function events(client: Client, params: EventsParams = {}): AsyncGenerator<Event, void, undefined> {
  const { type } = params;
  return eachItem((asked) => readEventPage(client, { type, ...asked }), params);
}
