import type { endpoints, Settings } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

/**
 * Reads the settings of your environment. On a server only: needs the secret key.
 *
 * @example
 * const { notificationEmail, jwksUrl } = await svc.settings.getSettings();
 */
export function getSettings(client: Client): Promise<Settings> {
  return request<typeof endpoints.getSettings>(client, { route: 'GET /organization/settings', access: 'secret' });
}
