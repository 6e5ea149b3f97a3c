import type { endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';
import type { WebhookWithSecret } from './create-webhook.ts';

export interface RotateWebhookSecretParams {
  readonly id: string;
  /** How long the old secret signs as well: at most a week. Default: a day. */
  readonly overlapSeconds?: number | undefined;
}

/**
 * Gives a webhook a new secret. For a while its events are signed with both, so that none is lost. `secret` is null where the first
 * answer was lost on the way and the request repeated: call this again then. Up to three older secrets sign until their own time is
 * over, so the one that is deployed still does. On a server only: needs the secret key.
 *
 * @example
 * const { secret } = await svc.webhooks.rotateWebhookSecret({ id: webhook.id, overlapSeconds: 3600 });
 */
export function rotateWebhookSecret(
  client: Client,
  { id, overlapSeconds }: RotateWebhookSecretParams,
): Promise<WebhookWithSecret> {
  return request<typeof endpoints.rotateWebhookSecret>(client, {
    route: 'POST /organization/webhooks/{id}/rotate-secret',
    access: 'secret',
    params: { id },
    body: { overlapSeconds },
  });
}
