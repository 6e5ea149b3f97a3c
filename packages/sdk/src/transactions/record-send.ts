import type { Chain, ChainToken, endpoints, Transaction } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

export interface RecordSendParams {
  readonly transactionHash: string;
  readonly expectedSender: string;
  readonly expectedRecipient: string;
  readonly expectedToken: ChainToken;
  /** In whole tokens, exact: `'1.5'`. */
  readonly expectedAmount: string;
  readonly chain: Chain;
}

/**
 * Puts a transfer that was executed elsewhere into the history. The service compares it with the chain; recorded again it answers the same record.
 *
 * @example
 * const { status } = await svc.recordSend({
 *   transactionHash,
 *   expectedSender: wallet.publicKey,
 *   expectedRecipient: recipient,
 *   expectedToken: 'USDC',
 *   expectedAmount: '1.5',
 *   chain: 'STARKNET',
 * });
 */
export function recordSend(client: Client, params: RecordSendParams, bearerToken?: BearerToken): Promise<Transaction> {
  const { transactionHash, expectedSender, expectedRecipient, expectedToken, expectedAmount, chain } = params;
  return request<typeof endpoints.recordSend>(client, {
    route: 'POST /transactions/record-send',
    access: 'both',
    body: { transactionHash, expectedSender, expectedRecipient, expectedToken, expectedAmount, chain },
    bearerToken,
  });
}
