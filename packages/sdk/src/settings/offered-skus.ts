import type { OfferedSku } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { readOfferedSkuPage } from './list-offered-skus.ts';

/**
 * Goes through the deployment's services and your own, offered or not, page after page. On a server only: needs the
 * secret key.
 *
 * @example
 * for await (const { id, isOwn, isOffered } of svc.settings.offeredSkus()) console.log(id, isOwn, isOffered);
 */
export function offeredSkus(client: Client, params: PageOptions = {}): AsyncGenerator<OfferedSku, void, undefined> {
  return eachItem((asked) => readOfferedSkuPage(client, asked), params);
}
