import type { endpoints, Sku } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface GetSkuParams {
  readonly id: string;
}

/**
 * Reads one service that can be bought.
 *
 * @example
 * const { name, referenceLabel } = await svc.getSku({ id: 'cfe-recibo-hogar' });
 */
export function getSku(client: Client, { id }: GetSkuParams, bearerToken?: BearerToken): Promise<Sku> {
  return request<typeof endpoints.getSku>(client, {
    route: 'GET /skus/{id}',
    access: 'both',
    params: { id },
    bearerToken,
  });
}
