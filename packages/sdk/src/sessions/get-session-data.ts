import { toHex } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { chainTime } from '../node/chain-time.ts';
import { readAddress } from '../signing/read-address.ts';
import { readOnChainSession } from './read-on-chain-session.ts';
import { readSessionKey } from './read-session-key.ts';

export interface GetSessionDataParams {
  readonly walletAddress: string;
  readonly sessionPublicKey: string;
}

export interface SessionInfo {
  /** Registered, not revoked, its time ahead, and calls left. */
  readonly isActive: boolean;
  /** Unix seconds; 0 when the wallet does not know the key. */
  readonly validUntil: number;
  readonly remainingCalls: number;
  /** Selectors, `0x…`; empty allows all, when active. */
  readonly allowedEntrypoints: readonly string[];
}

/**
 * Reads from the chain what a session key may still do. Needs no token.
 *
 * @example
 * const { isActive, remainingCalls } = await svc.sessions.getSessionData({
 *   walletAddress: wallet.publicKey,
 *   sessionPublicKey: session.publicKey,
 * });
 */
export async function getSessionData(
  client: Client,
  { walletAddress, sessionPublicKey }: GetSessionDataParams,
): Promise<SessionInfo> {
  const address = readAddress(walletAddress, 'walletAddress');
  const session = await readOnChainSession(client, address, readSessionKey(sessionPublicKey));
  if (!session) return { isActive: false, validUntil: 0, remainingCalls: 0, allowedEntrypoints: [] };
  const { validUntil, remainingCalls, allowedEntrypoints } = session;
  return {
    isActive: remainingCalls > 0n && validUntil > (await chainTime(client)),
    validUntil: Number(validUntil),
    remainingCalls: Number(remainingCalls),
    allowedEntrypoints: allowedEntrypoints.map(toHex),
  };
}
