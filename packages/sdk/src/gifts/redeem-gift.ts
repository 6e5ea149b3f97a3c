import {
  type AnswerOf,
  type endpoints,
  parseSolanaAddress,
  parseStarknetAddress,
  type RedeemChain,
} from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { request } from '../client/request.ts';

export interface RedeemGiftParams<C extends RedeemChain = RedeemChain> {
  readonly code: string;
  /** Where the USDC goes: an address of the chain that `chain` names. */
  readonly walletAddress: string;
  readonly chain: C;
  /** Store one before you call, and the same call again within 24 hours redeems once. Default: a new one. */
  readonly idempotencyKey?: string | undefined;
}

type Answer = AnswerOf<typeof endpoints.redeemGift>;
/** Paid, or (`PENDING`) about to be: `waitForRedeem` with its `id`. */
export type RedeemedOnStarknet = Extract<Answer, { giftRedeem: unknown }>;
/** On its way over the bridge: `waitForRedeem` with its `redeemId`. */
export type RedeemStarted = Extract<Answer, { redeemId: unknown }>;
export type Redeemed<C extends RedeemChain> = C extends 'starknet' ? RedeemedOnStarknet : RedeemStarted;

/**
 * Sends a gift to a wallet on Starknet, in seconds, or on Solana, over a bridge. The code is the only credential.
 *
 * After a `SvcConnectionError` the gift may have been redeemed. Where a wallet may redeem a code more than once, pass an
 * `idempotencyKey` that you have stored, and call again with the same.
 *
 * @example
 * const { giftRedeem } = await svc.gifts.redeemGift({ code: gift.code, walletAddress: wallet.publicKey, chain: 'starknet' });
 */
export async function redeemGift<C extends RedeemChain>(
  client: Client,
  { code, walletAddress, chain, idempotencyKey }: RedeemGiftParams<C>,
): Promise<Redeemed<C>> {
  requireAddress(walletAddress, chain);
  const answer = await request<typeof endpoints.redeemGift>(client, {
    route: 'POST /gifts/claim/{code}/redeem',
    access: 'none',
    params: { code },
    body: { walletAddress, chain },
    idempotencyKey,
  });
  return answer as Redeemed<C>;
}

/** What is sent to an address of another chain is lost. */
function requireAddress(text: string, chain: RedeemChain): void {
  if (chain !== 'starknet' && chain !== 'solana') {
    throw new SvcInputError('invalid_input', 'chain must be starknet or solana.');
  }
  const address = chain === 'starknet' ? parseStarknetAddress(text) : parseSolanaAddress(text);
  if (!address.ok) throw new SvcInputError('invalid_input', `walletAddress ${address.reason}.`);
}
