import type { EventType, endpoints, Webhook } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { request } from '../client/request.ts';

export interface UpdateWebhookParams {
  readonly id: string;
  readonly url?: string | undefined;
  readonly description?: string | null | undefined;
  /** null: all. */
  readonly eventTypes?: EventType[] | null | undefined;
  readonly isEnabled?: boolean | undefined;
}

/**
 * Changes a webhook, or switches it off and on. What happened while it was off is not sent by itself: replay it. On a
 * server only: needs the secret key.
 *
 * @example
 * await svc.webhooks.updateWebhook({ id: webhook.id, eventTypes: ['sku-purchase.completed', 'sku-purchase.failed'] });
 */
export async function updateWebhook(client: Client, params: UpdateWebhookParams): Promise<Webhook> {
  const { id, url, description, eventTypes, isEnabled } = params;
  const body = { url, description, eventTypes, isEnabled };
  if (Object.values(body).every((value) => value === undefined)) {
    throw new SvcInputError('invalid_input', 'Pass url, description, eventTypes or isEnabled: nothing would change.');
  }
  return await request<typeof endpoints.updateWebhook>(client, {
    route: 'PATCH /organization/webhooks/{id}',
    access: 'secret',
    params: { id },
    body,
  });
}
