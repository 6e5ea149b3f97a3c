import type { AnswerOf, endpoints } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface CheckSkuReferenceParams {
  /** The service's id; one with `canCheckSkuReference`. */
  readonly id: string;
  /** Such as a phone or account number. */
  readonly reference: string;
}

/** `reason` says why not. */
export type ReferenceChecked = AnswerOf<typeof endpoints.checkSkuReference>;

/**
 * Checks a reference with the provider before anything is paid.
 *
 * @example
 * const { valid, reason } = await svc.checkSkuReference({ id: 'cfe-recibo-hogar', reference: '012345678901' });
 */
export function checkSkuReference(
  client: Client,
  { id, reference }: CheckSkuReferenceParams,
  bearerToken?: BearerToken,
): Promise<ReferenceChecked> {
  return request<typeof endpoints.checkSkuReference>(client, {
    route: 'POST /skus/{id}/check-reference',
    access: 'both',
    params: { id },
    body: { reference },
    bearerToken,
  });
}
