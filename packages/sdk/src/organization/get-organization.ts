import type { endpoints, Organization } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

/**
 * Reads your organisation and its credits. On a server only: needs the secret key.
 *
 * @example
 * const { name, balance } = await svc.getOrganization();
 */
export function getOrganization(client: Client): Promise<Organization> {
  return request<typeof endpoints.getOrganization>(client, { route: 'GET /organization', access: 'secret' });
}
