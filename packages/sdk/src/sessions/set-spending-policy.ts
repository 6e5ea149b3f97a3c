import { requireBearerToken } from '../client/authentication.ts';
import type { BearerToken, Client } from '../client/client.ts';
import { executeAsOwner, type OwnerParams } from './execute-as-owner.ts';
import { refuseWithoutPolicies, requirePolicyClass } from './require-session-wallet.ts';
import { readSpendingPolicy, type SpendingPolicyConfig, setSpendingPolicyCall } from './spending-policy-config.ts';

export interface SetSpendingPolicyParams extends OwnerParams {
  readonly spendingPolicyConfig: SpendingPolicyConfig;
}

/**
 * Limits how much of a token a session key may spend; the wallet itself enforces it. Replaces an earlier limit and starts its window
 * anew. Signed by the owner, without gas. Needs a bearer token.
 *
 * @example
 * const transactionHash = await svc.sessions.setSpendingPolicy(
 *   {
 *     encryptKey,
 *     wallet,
 *     spendingPolicyConfig: {
 *       sessionPublicKey: session.publicKey,
 *       token: tokenAddress,
 *       maxPerCall: 5_000_000n,
 *       maxPerWindow: 20_000_000n,
 *       windowSeconds: 86_400,
 *     },
 *   },
 *   bearerToken,
 * );
 */
export async function setSpendingPolicy(
  client: Client,
  { encryptKey, wallet, spendingPolicyConfig }: SetSpendingPolicyParams,
  bearerToken?: BearerToken,
): Promise<string> {
  refuseWithoutPolicies(wallet);
  const ownToken = requireBearerToken(client, bearerToken);
  const policy = readSpendingPolicy(spendingPolicyConfig);
  await requirePolicyClass(client, wallet);
  const calls = [setSpendingPolicyCall(wallet.publicKey, policy)];
  return executeAsOwner(client, { encryptKey, wallet, calls }, ownToken);
}
