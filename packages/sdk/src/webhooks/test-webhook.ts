import type { Delivery, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface TestWebhookParams {
  readonly id: string;
}

/**
 * Sends a `webhook.test` event to one webhook alone, and answers its delivery. On a server only: needs the secret key.
 *
 * @example
 * const { id, state } = await svc.webhooks.testWebhook({ id: webhook.id });
 */
export function testWebhook(client: Client, { id }: TestWebhookParams): Promise<Delivery> {
  return request<typeof endpoints.testWebhook>(client, {
    route: 'POST /organization/webhooks/{id}/test',
    access: 'secret',
    params: { id },
  });
}
