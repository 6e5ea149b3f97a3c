import type { endpoints } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { request } from '../client/request.ts';
import { type CheckedExecution, checkForSigning } from './check-for-signing.ts';
import { readAddress } from './read-address.ts';
import { type ContractCall, toCalls, toWireCall } from './to-call.ts';
import type { SvcWallet } from './wallet.ts';

export interface CallsToPrepare {
  readonly walletAddress: string;
  readonly calls: readonly ContractCall[];
  /** What you take the wallet to be: the service refuses when it is not. */
  readonly walletType?: SvcWallet['walletType'];
}

export interface PreparedCalls extends CheckedExecution {
  /** As the service gave it, to be sent back with the signature. */
  readonly typedData: Record<string, unknown>;
}

/** Asks the service for the typed data of the calls, and lets it through only if it is exactly that. */
export async function prepareCalls(
  client: Client,
  { walletAddress, calls, walletType }: CallsToPrepare,
  bearerToken?: BearerToken,
): Promise<PreparedCalls> {
  const account = readAddress(walletAddress, 'publicKey of the wallet');
  const wanted = toCalls(calls);
  const { typedData } = await request<typeof endpoints.prepareTypedData>(client, {
    route: 'POST /transactions/prepare-typed-data',
    access: 'both',
    body: {
      publicKey: toHex(account),
      calls: calls.map(toWireCall),
      // A word of the client library alone: the service is not asked whether it agrees.
      walletType: walletType === 'SHHH' ? undefined : walletType,
    },
    bearerToken,
  });
  return { ...(await checkForSigning(client, typedData, { account, calls: wanted })), typedData };
}
