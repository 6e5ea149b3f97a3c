import type { Handlers } from '../../http/call.ts';
import { claimGift } from './claim.ts';
import type { ClaimParts } from './parts.ts';
import { redeemGift } from './redeem-gift.ts';
import { redeemStatus } from './redeem-status.ts';

type ClaimOperation = 'claimGift' | 'redeemGift' | 'getRedeemStatus';

/** What anyone who has a code can do. */
export function claimHandlers(parts: ClaimParts): Pick<Handlers, ClaimOperation> {
  return {
    claimGift: (call) => claimGift(parts, call),
    redeemGift: (call) => redeemGift(parts, call),
    getRedeemStatus: (call) => redeemStatus(parts, call),
  };
}
