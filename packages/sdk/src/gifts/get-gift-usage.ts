import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export type GiftUsage = AnswerOf<typeof endpoints.getGiftUsage>;

/**
 * Reads totals over all your gifts.
 *
 * @example
 * const { activeGifts, totalHeldUsd, totalRedeemedUsd } = await svc.gifts.getGiftUsage();
 */
export function getGiftUsage(client: Client): Promise<GiftUsage> {
  return request<typeof endpoints.getGiftUsage>(client, { route: 'GET /gifts/usage', access: 'either' });
}
