import type { endpoints, Gift, GiftType } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { type List, type Page, toList } from '../client/pages.ts';
import { request } from '../client/request.ts';

export interface GiftFilters {
  readonly isActive?: boolean | undefined;
  readonly type?: GiftType | undefined;
  /** The `name` of a bulk creation. */
  readonly campaignName?: string | undefined;
}

export interface ListGiftsParams extends GiftFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of your gifts, newest first. `gifts` goes through all pages.
 *
 * @example
 * const { items, total } = await svc.gifts.listGifts({ isActive: true, limit: 20 });
 */
export async function listGifts(client: Client, params: ListGiftsParams = {}): Promise<List<Gift>> {
  return toList(await readGiftPage(client, params));
}

export function readGiftPage(client: Client, params: ListGiftsParams): Promise<Page<Gift>> {
  const { isActive, type, campaignName, page, limit } = params;
  return request<typeof endpoints.listGifts>(client, {
    route: 'GET /gifts',
    access: 'either',
    query: { isActive, type, campaignName, page, limit },
  });
}
