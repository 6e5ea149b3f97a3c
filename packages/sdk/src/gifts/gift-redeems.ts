import type { Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import type { GiftRedeem } from './get-gift-redeem.ts';
import { readGiftRedeemPage } from './list-gift-redeems.ts';

/**
 * Goes through all redemptions of your gifts, newest first, reading page after page as they are needed.
 *
 * @example
 * for await (const { code, amount, status } of svc.gifts.giftRedeems()) console.log(code, amount, status);
 */
export function giftRedeems(client: Client, params: PageOptions = {}): AsyncGenerator<GiftRedeem, void, undefined> {
  return eachItem((asked) => readGiftRedeemPage(client, asked), params);
}
