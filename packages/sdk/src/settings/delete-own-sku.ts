import type { AnswerOf, endpoints } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface DeleteOwnSkuParams {
  readonly id: string;
}

export type OwnSkuDeleted = AnswerOf<typeof endpoints.deleteOwnSku>;

/**
 * Removes a service of your own. Purchases of it stay. On a server only: needs the secret key.
 *
 * @example
 * await svc.settings.deleteOwnSku({ id: ownSku.id });
 */
export function deleteOwnSku(client: Client, { id }: DeleteOwnSkuParams): Promise<OwnSkuDeleted> {
  return request<typeof endpoints.deleteOwnSku>(client, {
    route: 'DELETE /organization/skus/{id}',
    access: 'secret',
    params: { id },
  });
}
