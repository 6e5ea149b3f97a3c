import type { endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';
import type { GiftRedeem } from './get-gift-redeem.ts';

export interface ListGiftRedeemsParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the redemptions of your gifts, newest first. `giftRedeems` goes through all pages.
 *
 * @example
 * const { items, total } = await svc.gifts.listGiftRedeems({ limit: 20 });
 */
export async function listGiftRedeems(client: Client, params: ListGiftRedeemsParams = {}): Promise<List<GiftRedeem>> {
  return toList(await readGiftRedeemPage(client, params));
}

export function readGiftRedeemPage(client: Client, { page, limit }: ListGiftRedeemsParams): Promise<Page<GiftRedeem>> {
  return request<typeof endpoints.listGiftRedeems>(client, {
    route: 'GET /gifts/history/redeems',
    access: 'either',
    query: { page, limit },
  });
}
