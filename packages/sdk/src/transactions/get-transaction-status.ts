import type { AnswerOf, endpoints } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface GetTransactionStatusParams {
  readonly hash: string;
}

/** `revertReason` is there when `status` is `REVERTED`. */
export type TransactionStatus = AnswerOf<typeof endpoints.getTransactionStatus>;

/**
 * Reads what the chain says of a transaction now. `waitForTransaction` waits for the end.
 *
 * @example
 * const { status, blockNumber } = await svc.getTransactionStatus({ hash: transactionHash });
 */
export function getTransactionStatus(
  client: Client,
  { hash }: GetTransactionStatusParams,
  bearerToken?: BearerToken,
): Promise<TransactionStatus> {
  return request<typeof endpoints.getTransactionStatus>(client, {
    route: 'GET /transactions/{hash}/status',
    access: 'both',
    params: { hash },
    bearerToken,
  });
}
