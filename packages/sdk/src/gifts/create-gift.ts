import type { endpoints, Gift, GiftType } from '@svc/protocol';
import type { Client } from '../client/client.ts';
import { request } from '../client/request.ts';
import { readGiftAmount } from './read-gift-amount.ts';

export interface CreateGiftParams {
  /** 4 to 64 letters, digits, `_` and `-`. Whoever knows it can redeem it. */
  readonly code: string;
  readonly name: string;
  /** USDC for each redemption: above 0, at most 10,000, at most 6 decimals. */
  readonly amount: string | number;
  readonly token?: 'USDC' | undefined;
  readonly chain?: 'STARKNET' | undefined;
  /** Default: `GIFT_CARD`. */
  readonly type?: GiftType | undefined;
  /** By everyone together. */
  readonly maxRedeems: number;
  /** By one wallet. */
  readonly maxRedeemsPerUser: number;
  /** ISO 8601, as `expiresAt`. */
  readonly startsAt: string;
  /** Default: never. */
  readonly expiresAt?: string | null | undefined;
  readonly isActive: boolean;
  /** Redeems on Solana take seconds for a small fee (true, the default) or hours for none. */
  readonly cctpFast?: boolean | undefined;
  /** Store one before you call, and the same call again within 24 hours answers the same gift. Default: a new one. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Creates a gift code and holds its credits: `amount` times `maxRedeems`, and an allowance for gas.
 *
 * @example
 * const gift = await svc.gifts.createGift({
 *   code: `SPRING-${crypto.randomUUID()}`,
 *   name: 'Spring',
 *   amount: '2.50',
 *   maxRedeems: 100,
 *   maxRedeemsPerUser: 1,
 *   startsAt: new Date().toISOString(),
 *   isActive: true,
 * });
 */
export async function createGift(client: Client, params: CreateGiftParams): Promise<Gift> {
  const { idempotencyKey, amount, ...rest } = params;
  return await request<typeof endpoints.createGift>(client, {
    route: 'POST /gifts',
    access: 'either',
    body: { ...rest, amount: readGiftAmount(amount) },
    idempotencyKey,
  });
}
