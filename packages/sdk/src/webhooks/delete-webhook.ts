import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface DeleteWebhookParams {
  readonly id: string;
}

export type WebhookDeleted = AnswerOf<typeof endpoints.deleteWebhook>;

/**
 * Deletes a webhook. Nothing more is sent to it. On a server only: needs the secret key.
 *
 * @example
 * await svc.webhooks.deleteWebhook({ id: webhook.id });
 */
export function deleteWebhook(client: Client, { id }: DeleteWebhookParams): Promise<WebhookDeleted> {
  return request<typeof endpoints.deleteWebhook>(client, {
    route: 'DELETE /organization/webhooks/{id}',
    access: 'secret',
    params: { id },
  });
}
