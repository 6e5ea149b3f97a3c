import type { ApiKey } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { eachItem, type PageOptions } from '../client/pages.ts';
import { readApiKeyPage } from './list-api-keys.ts';

/**
 * Goes through the keys of your environment, newest first, secret ones masked, page after page. On a server only: needs
 * the secret key.
 *
 * @example
 * for await (const { kind, key, revokedAt } of svc.settings.apiKeys()) console.log(kind, key, revokedAt);
 */
export function apiKeys(client: Client, params: PageOptions = {}): AsyncGenerator<ApiKey, void, undefined> {
  return eachItem((asked) => readApiKeyPage(client, asked), params);
}
