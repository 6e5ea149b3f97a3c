import type { AnswerOf, EventType, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface CreateWebhookParams {
  /** A public https address. */
  readonly url: string;
  readonly description?: string | null | undefined;
  /** null, the default: all. */
  readonly eventTypes?: EventType[] | null | undefined;
}

/** `secret` is what `verifyWebhook` wants, in this one answer. */
export type WebhookWithSecret = AnswerOf<typeof endpoints.createWebhook>;

/**
 * Has events sent to an address of yours. Should the answer get lost on the way, `secret` is null: rotate it. On a
 * server only: needs the secret key.
 *
 * @example
 * const { id, secret } = await svc.webhooks.createWebhook({ url: 'https://app.tienda.example/webhooks' });
 */
export function createWebhook(client: Client, params: CreateWebhookParams): Promise<WebhookWithSecret> {
  const { url, description, eventTypes } = params;
  return request<typeof endpoints.createWebhook>(client, {
    route: 'POST /organization/webhooks',
    access: 'secret',
    body: { url, description, eventTypes },
  });
}
