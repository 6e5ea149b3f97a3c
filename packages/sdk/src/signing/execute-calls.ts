import type { BearerToken, Client } from '../client/client.ts';
import { sendSignedCalls } from './send-signed-calls.ts';
import { type CallsToSign, signCalls } from './sign-calls.ts';

/** Executes calls of the wallet without gas, signed by its owner; answers the transaction's hash. */
export async function executeCalls(client: Client, params: CallsToSign, bearerToken?: BearerToken): Promise<string> {
  return sendSignedCalls(client, await signCalls(client, params, bearerToken), bearerToken);
}
