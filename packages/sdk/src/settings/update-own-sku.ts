import type { endpoints, OfferedSku } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { request } from '../client/request.ts';
import type { OwnSkuFields } from './create-own-sku.ts';

type Changes = { readonly [Name in keyof OwnSkuFields]?: OwnSkuFields[Name] | undefined };

export interface UpdateOwnSkuParams extends Changes {
  readonly id: string;
  /** null takes it away, as below. */
  readonly description?: string | null | undefined;
  readonly fixedAmount?: number | null | undefined;
  readonly logoUrl?: string | null | undefined;
  /** Whether your users see it and can buy it: all that can be changed of the deployment's services. */
  readonly isOffered?: boolean | undefined;
}

/**
 * Changes a service of your own, or offers a service or not. What is left out stays, and so do purchases that were
 * made. On a server only: needs the secret key.
 *
 * @example
 * await svc.settings.updateOwnSku({ id: ownSku.id, name: 'Agua del Centro' });
 * await svc.settings.updateOwnSku({ id: 'viapass-recarga', isOffered: false });
 */
export async function updateOwnSku(client: Client, { id, ...changes }: UpdateOwnSkuParams): Promise<OfferedSku> {
  if (Object.values(changes).every((value) => value === undefined)) {
    throw new SvcInputError('invalid_input', 'Pass what is to change: nothing would.');
  }
  return await request<typeof endpoints.updateOwnSku>(client, {
    route: 'PATCH /organization/skus/{id}',
    access: 'secret',
    params: { id },
    body: changes,
  });
}
