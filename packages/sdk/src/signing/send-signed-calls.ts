import type { BodyOf, endpoints } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';

/** What the service relays: signed calls of a wallet's owner, or of a session. */
export type CallsToSend = Readonly<BodyOf<typeof endpoints.executeSponsoredTransaction>>;

/** Has the service execute signed calls. The same ones again answer the same hash: wallet and nonce are relayed once. */
export async function sendSignedCalls(
  client: Client,
  signed: CallsToSend,
  bearerToken?: BearerToken,
  idempotencyKey?: string,
): Promise<string> {
  const { transactionHash } = await request<typeof endpoints.executeSponsoredTransaction>(client, {
    route: 'POST /transactions/execute-sponsored-transaction',
    access: 'both',
    body: signed,
    bearerToken,
    idempotencyKey,
  });
  return transactionHash;
}
