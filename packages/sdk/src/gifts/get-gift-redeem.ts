import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface GetGiftRedeemParams {
  readonly id: string;
}

/** A redemption as its gift's owner sees it. */
export type GiftRedeem = AnswerOf<typeof endpoints.getGiftRedeem>;

/**
 * Reads one redemption of your gifts.
 *
 * @example
 * const { status, walletAddress } = await svc.gifts.getGiftRedeem({ id: redeemId });
 */
export function getGiftRedeem(client: Client, { id }: GetGiftRedeemParams): Promise<GiftRedeem> {
  return request<typeof endpoints.getGiftRedeem>(client, {
    route: 'GET /gifts/history/redeems/{id}',
    access: 'either',
    params: { id },
  });
}
