import type { endpoints, Gift } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface GetGiftParams {
  readonly id: string;
}

/**
 * Reads one of your gifts.
 *
 * @example
 * const { code, totalRedeems, maxRedeems } = await svc.gifts.getGift({ id: gift.id });
 */
export function getGift(client: Client, { id }: GetGiftParams): Promise<Gift> {
  return request<typeof endpoints.getGift>(client, { route: 'GET /gifts/{id}', access: 'either', params: { id } });
}
