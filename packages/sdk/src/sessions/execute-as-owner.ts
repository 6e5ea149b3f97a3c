import type { BearerToken, Client } from '../client/client.ts';
import { executeCalls } from '../signing/execute-calls.ts';
import type { ContractCall } from '../signing/to-call.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { toSessionError } from './session-errors.ts';

export interface OwnerParams {
  /** Opens the wallet's key. */
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
}

/** Executes calls on the wallet itself, which its owner alone may sign. */
export async function executeAsOwner(
  client: Client,
  { encryptKey, wallet, calls }: OwnerParams & { readonly calls: readonly ContractCall[] },
  bearerToken: BearerToken,
): Promise<string> {
  try {
    return await executeCalls(client, { wallet, encryptKey, calls }, bearerToken);
  } catch (error) {
    throw toSessionError(error);
  }
}
