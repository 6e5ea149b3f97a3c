import type { endpoints, Webhook } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface GetWebhookParams {
  readonly id: string;
}

/**
 * Reads a webhook. On a server only: needs the secret key.
 *
 * @example
 * const { url, isEnabled, disabledReason } = await svc.webhooks.getWebhook({ id: webhook.id });
 */
export function getWebhook(client: Client, { id }: GetWebhookParams): Promise<Webhook> {
  return request<typeof endpoints.getWebhook>(client, {
    route: 'GET /organization/webhooks/{id}',
    access: 'secret',
    params: { id },
  });
}
