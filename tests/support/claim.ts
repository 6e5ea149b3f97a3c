import { randomBytes } from 'node:crypto';
import { type Reply, send } from './client.ts';
import type { RunningServer } from './server.ts';
import { newSolanaWallet } from './solana.ts';

export const chains = ['starknet', 'solana'] as const;
export type RedeemChain = (typeof chains)[number];

export interface Claim {
  readonly code: string;
  readonly chain: RedeemChain;
  readonly walletAddress: string;
  /** Whoever repeats a claim with its key has made one. */
  readonly key?: string;
}

/** A felt has 252 bits; these always fit. */
const ADDRESS_BYTES = 31;

export const newWallet = (chain: RedeemChain): string =>
  chain === 'solana' ? newSolanaWallet() : `0x${randomBytes(ADDRESS_BYTES).toString('hex')}`;

export function claimAt(server: RunningServer, { code, chain, walletAddress, key }: Claim): Promise<Reply> {
  return send(`${server.credentials.baseUrl}/gifts/claim/${code}/redeem`, {
    method: 'POST',
    body: { walletAddress, chain },
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
}
