import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface DeleteGiftParams {
  readonly id: string;
}

/** `releasedUsd` are the credits that came back. */
export type GiftDeleted = AnswerOf<typeof endpoints.deleteGift>;

/**
 * Deletes a gift and releases the credits that it still holds. Past redemptions stay readable.
 *
 * @example
 * const { releasedUsd } = await svc.gifts.deleteGift({ id: gift.id });
 */
export function deleteGift(client: Client, { id }: DeleteGiftParams): Promise<GiftDeleted> {
  return request<typeof endpoints.deleteGift>(client, {
    route: 'DELETE /gifts/{id}',
    access: 'either',
    params: { id },
  });
}
