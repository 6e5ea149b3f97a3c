import type { BearerToken, Client } from '../client/client.ts';
import { openWalletKey } from '../keys/open-wallet-key.ts';
import { prepareCalls } from './prepare-calls.ts';
import { readAddress } from './read-address.ts';
import { signExecution } from './sign-execution.ts';
import type { ContractCall } from './to-call.ts';
import type { SvcWallet } from './wallet.ts';

export interface CallsToSign {
  readonly wallet: SvcWallet;
  readonly encryptKey: string;
  readonly calls: readonly ContractCall[];
}

/** Everything that `sendSignedCalls` needs, as plain JSON: it can be stored and sent again, and is executed once. */
export interface SignedCalls {
  readonly publicKey: string;
  readonly typedData: Record<string, unknown>;
  readonly userSignature: { readonly r: string; readonly s: string };
}

/** Prepares the calls, checks what the service made of them, and signs as the owner. The key is opened last, and forgotten. */
export async function signCalls(
  client: Client,
  { wallet, encryptKey, calls }: CallsToSign,
  bearerToken?: BearerToken,
): Promise<SignedCalls> {
  const account = readAddress(wallet.publicKey, 'publicKey of the wallet');
  const { execution, typedData, chainId } = await prepareCalls(
    client,
    { walletAddress: wallet.publicKey, calls },
    bearerToken,
  );
  const privateKey = await openWalletKey({ encryptKey, wallet });
  return {
    publicKey: wallet.publicKey,
    typedData,
    userSignature: signExecution(execution, { account, chainId, privateKey }),
  };
}
