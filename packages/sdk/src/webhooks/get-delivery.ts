import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface GetDeliveryParams {
  /** Of the webhook. */
  readonly id: string;
  readonly deliveryId: string;
}

export type DeliveryWithAttempts = AnswerOf<typeof endpoints.getDelivery>;

/**
 * Reads a delivery and every attempt of it. On a server only: needs the secret key.
 *
 * @example
 * const delivery = await svc.webhooks.testWebhook({ id: webhook.id });
 * const { attemptsMade } = await svc.webhooks.getDelivery({ id: webhook.id, deliveryId: delivery.id });
 */
export function getDelivery(client: Client, { id, deliveryId }: GetDeliveryParams): Promise<DeliveryWithAttempts> {
  return request<typeof endpoints.getDelivery>(client, {
    route: 'GET /organization/webhooks/{id}/deliveries/{deliveryId}',
    access: 'secret',
    params: { id, deliveryId },
  });
}
