import type { Webhook } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { readWebhookPage } from './list-webhooks.ts';

/**
 * Goes through your webhooks, newest first, page after page. On a server only: needs the secret key.
 *
 * @example
 * for await (const { url, isEnabled } of svc.webhooks.webhooks()) console.log(url, isEnabled);
 */
export function webhooks(client: Client, params: PageOptions = {}): AsyncGenerator<Webhook, void, undefined> {
  return eachItem((asked) => readWebhookPage(client, asked), params);
}
