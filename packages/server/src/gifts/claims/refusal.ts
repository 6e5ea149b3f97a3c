import { type GiftRecord, isExpired } from '../gift.ts';

export type Refusal = 'gift_not_found' | 'gift_inactive' | 'gift_not_started' | 'gift_expired' | 'gift_limit_reached';

type State = Pick<
  GiftRecord,
  'deletedAt' | 'isActive' | 'startsAt' | 'expiresAt' | 'totalRedeems' | 'maxRedeems' | 'holdId'
>;

/** Why nobody can redeem the gift now, the first reason that applies. */
export function refusalOf(gift: State | undefined, nowMs: number): Refusal | undefined {
  if (!gift || gift.deletedAt !== null) return 'gift_not_found';
  if (!gift.isActive) return 'gift_inactive';
  if (nowMs < gift.startsAt.getTime()) return 'gift_not_started';
  if (isExpired(gift, nowMs)) return 'gift_expired';
  if (gift.totalRedeems >= gift.maxRedeems) return 'gift_limit_reached';
  // A process with a clock ahead of ours released it already.
  if (gift.holdId === null) return 'gift_expired';
  return undefined;
}
