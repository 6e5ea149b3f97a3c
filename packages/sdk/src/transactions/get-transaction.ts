import type { endpoints, Transaction } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface GetTransactionParams {
  /** The hash on the chain, or the service's own id. */
  readonly hashOrId: string;
}

/**
 * Reads one transaction of the history.
 *
 * @example
 * const { status, amount } = await svc.getTransaction({ hashOrId: transactionHash });
 */
export function getTransaction(
  client: Client,
  { hashOrId }: GetTransactionParams,
  bearerToken?: BearerToken,
): Promise<Transaction> {
  return request<typeof endpoints.getTransaction>(client, {
    route: 'GET /transactions/{hashOrId}',
    access: 'both',
    params: { hashOrId },
    bearerToken,
  });
}
