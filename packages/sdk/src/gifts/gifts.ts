import type { Gift } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { type GiftFilters, readGiftPage } from './list-gifts.ts';

export interface GiftsParams extends GiftFilters, PageOptions {}

/**
 * Goes through all your gifts, newest first, reading page after page as they are needed.
 *
 * @example
 * for await (const gift of svc.gifts.gifts({ campaignName: 'Navidad' })) console.log(gift.code, gift.totalRedeems);
 */
export function gifts(client: Client, params: GiftsParams = {}): AsyncGenerator<Gift, void, undefined> {
  const { isActive, type, campaignName } = params;
  return eachItem((asked) => readGiftPage(client, { isActive, type, campaignName, ...asked }), params);
}
