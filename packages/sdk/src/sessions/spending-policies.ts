import { decodeSpendingPolicyState, encodePolicyKey } from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcChainError } from '../client/errors.ts';
import { requireBearerToken } from '../client/request.ts';
import { readAddress } from '../client/values.ts';
import { callContract } from '../node/rpc.ts';
import {
  executeAsOwner,
  type OwnerParams,
  readSessionKey,
  readSpendingPolicy,
  refuseWithoutPolicies,
  requirePolicyClass,
  type SpendingPolicyConfig,
  setSpendingPolicyCall,
} from './session-wallet.ts';

export interface SetSpendingPolicyParams extends OwnerParams {
  readonly spendingPolicyConfig: SpendingPolicyConfig;
}

/**
 * Limits how much of a token a session key may spend; the wallet enforces it. Replaces an earlier limit and starts a
 * new window. Signed by the owner; the service pays the gas. Needs a bearer token.
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

export interface GetSpendingPolicyParams {
  readonly walletAddress: string;
  readonly sessionPublicKey: string;
  /** The token's address. */
  readonly token: string;
}

/** All zero without a policy, which means no limit. Amounts are in the token's smallest unit. */
export interface SpendingPolicyInfo {
  readonly maxPerCall: bigint;
  readonly maxPerWindow: bigint;
  readonly windowSeconds: number;
  /** Since `windowStart`; the next spending after the window ends resets it. */
  readonly spentInWindow: bigint;
  /** Unix seconds. */
  readonly windowStart: number;
}

/**
 * Reads a session key's limit for a token from the chain. Needs no bearer token.
 *
 * @example
 * const { maxPerCall, spentInWindow } = await svc.sessions.getSpendingPolicy({
 *   walletAddress: wallet.publicKey,
 *   sessionPublicKey: session.publicKey,
 *   token: tokenAddress,
 * });
 */
export async function getSpendingPolicy(
  client: Client,
  { walletAddress, sessionPublicKey, token }: GetSpendingPolicyParams,
): Promise<SpendingPolicyInfo> {
  const contractAddress = readAddress(walletAddress, 'walletAddress');
  const calldata = encodePolicyKey({
    sessionKey: readSessionKey(sessionPublicKey),
    token: readAddress(token, 'token'),
  });
  const result = await callContract(client, { contractAddress, entrypoint: 'get_spending_policy', calldata }).catch(
    async (error: unknown) => {
      if (error instanceof SvcChainError && error.code === 'entrypoint_not_found') {
        await requirePolicyClass(client, { publicKey: walletAddress });
      }
      throw error;
    },
  );
  const state = decodeSpendingPolicyState(result);
  if (!state) throw new SvcChainError('call_failed', 'get_spending_policy answered something else than a policy.');
  return { ...state, windowSeconds: Number(state.windowSeconds), windowStart: Number(state.windowStart) };
}

export interface RemoveSpendingPolicyParams extends OwnerParams {
  readonly sessionPublicKey: string;
  /** The token's address. */
  readonly token: string;
}

/**
 * Removes the limit of a session key for a token: the key may then spend all of it. To end a session, revoke its key
 * instead. Signed by the owner; the service pays the gas. Needs a bearer token.
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
