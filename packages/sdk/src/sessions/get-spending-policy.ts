import { decodeSpendingPolicyState, encodePolicyKey } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcChainError } from '../client/errors.ts';
import { callContract } from '../node/call-contract.ts';
import { readAddress } from '../signing/read-address.ts';
import { readSessionKey } from './read-session-key.ts';
import { requirePolicyClass } from './require-session-wallet.ts';

export interface GetSpendingPolicyParams {
  readonly walletAddress: string;
  readonly sessionPublicKey: string;
  /** The token's address. */
  readonly token: string;
}

/** All zero when there is no policy, which means no limit. Amounts are raw, in the token's smallest unit. */
export interface SpendingPolicyInfo {
  readonly maxPerCall: bigint;
  readonly maxPerWindow: bigint;
  readonly windowSeconds: number;
  /** Since `windowStart`; a window that is over is counted anew with the next spending. */
  readonly spentInWindow: bigint;
  /** Unix seconds. */
  readonly windowStart: number;
}

/**
 * Reads from the chain what a session key may spend of a token. Needs no token of a user.
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
