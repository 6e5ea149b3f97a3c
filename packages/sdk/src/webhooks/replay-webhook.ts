import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface ReplayWebhookParams {
  readonly id: string;
  /** One event. */
  readonly eventId?: string | undefined;
  /** In place of `eventId`: all events from this moment on, ISO 8601, … */
  readonly from?: string | undefined;
  /** … and before this one. */
  readonly to?: string | undefined;
}

export type ReplayedEvents = AnswerOf<typeof endpoints.replayWebhook>;

/**
 * Delivers one event, or all events of a time, once more to one webhook: the oldest first, at most 10,000 at a time. `nextFrom` is
 * where the rest begins, null when there is none. On a server only: needs the secret key.
 *
 * @example
 * const { replayed, nextFrom } = await svc.webhooks.replayWebhook({ id: webhook.id, from: '2026-11-02T18:00:00Z' });
 */
export function replayWebhook(client: Client, { id, eventId, from, to }: ReplayWebhookParams): Promise<ReplayedEvents> {
  return request<typeof endpoints.replayWebhook>(client, {
    route: 'POST /organization/webhooks/{id}/replay',
    access: 'secret',
    params: { id },
    body: { eventId, from, to },
  });
}
