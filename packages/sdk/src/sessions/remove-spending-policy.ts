import { encodePolicyKey } from '@svc/starknet';
import { requireBearerToken } from '../client/authentication.ts';
import type { BearerToken, Client } from '../client/client.ts';
import { readAddress } from '../signing/read-address.ts';
import { executeAsOwner, type OwnerParams } from './execute-as-owner.ts';
import { readSessionKey } from './read-session-key.ts';
import { refuseWithoutPolicies, requirePolicyClass } from './require-session-wallet.ts';

export interface RemoveSpendingPolicyParams extends OwnerParams {
  readonly sessionPublicKey: string;
  /** The token's address. */
  readonly token: string;
}

/**
 * Lifts the limit of a session key for a token: afterwards the key may spend all of it. To end a session, revoke its key instead.
 * Signed by the owner, without gas. Needs a bearer token.
 *
 * @example
 * const transactionHash = await svc.sessions.removeSpendingPolicy(
 *   { encryptKey, wallet, sessionPublicKey: session.publicKey, token: tokenAddress },
 *   bearerToken,
 * );
 */
export async function removeSpendingPolicy(
  client: Client,
  { encryptKey, wallet, sessionPublicKey, token }: RemoveSpendingPolicyParams,
  bearerToken?: BearerToken,
): Promise<string> {
  refuseWithoutPolicies(wallet);
  const ownToken = requireBearerToken(client, bearerToken);
  const calldata = encodePolicyKey({
    sessionKey: readSessionKey(sessionPublicKey),
    token: readAddress(token, 'token'),
  });
  await requirePolicyClass(client, wallet);
  const calls = [{ contractAddress: wallet.publicKey, entrypoint: 'remove_spending_policy', calldata }];
  return executeAsOwner(client, { encryptKey, wallet, calls }, ownToken);
}
