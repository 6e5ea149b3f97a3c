import { randomUUID } from 'node:crypto';
import type { Database } from '@svc/store';
import { type NewGift, storeGifts } from '../../packages/server/src/gifts/create-gifts.ts';
import type { LedgerOwner } from '../../packages/server/src/ledger/ledger.ts';

/** As many as are made at once through the interface. */
const AT_ONCE = 500;
const CENT = 10_000n;

export async function stockGifts(
  db: Database,
  owner: LedgerOwner,
  codes: readonly string[],
  redeems = 1,
): Promise<void> {
  for (let from = 0; from < codes.length; from += AT_ONCE) {
    const gifts = codes.slice(from, from + AT_ONCE).map((code) => giftWith(code, redeems));
    await db.tx((tx) => storeGifts(tx, owner, gifts));
  }
}

export const newCodes = (count: number): string[] => Array.from({ length: count }, () => `Bench-${randomUUID()}`);

function giftWith(code: string, redeems: number): NewGift {
  return {
    code,
    name: 'Bench',
    type: 'GIFT_CARD',
    amount: CENT,
    gas: CENT,
    bridge: 0n,
    maxRedeems: redeems,
    maxRedeemsPerUser: 1,
    startsAt: new Date('2026-01-01'),
    expiresAt: null,
    isActive: true,
    cctpFast: false,
    recipientEmail: null,
    campaignName: null,
  };
}
