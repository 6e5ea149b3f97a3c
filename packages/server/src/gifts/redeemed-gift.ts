import { type Db, sql } from '@svc/store';
import { type GiftRecord, giftColumns } from './gift.ts';
import type { Redeem } from './redeem.ts';
import { openRedeem, releaseRest } from './shares.ts';

/** As it is now; the caller has its row locked. */
export async function giftOfRedeem(tx: Db, { giftId }: Pick<Redeem, 'giftId'>): Promise<GiftRecord> {
  const gift = await tx.one<GiftRecord>(sql`select ${giftColumns} from gifts where id = ${giftId}`);
  if (!gift) throw new Error(`Gift ${giftId} of a redeem does not exist.`);
  return gift;
}

/** A gift whose places are all taken needs its hold until the last redeem has ended: one that fails frees its place. */
export async function releaseIfExhausted(tx: Db, redeem: Pick<Redeem, 'giftId'>): Promise<void> {
  const gift = await giftOfRedeem(tx, redeem);
  if (gift.holdId === null || gift.totalRedeems < gift.maxRedeems) return;
  const open = await tx.one(sql`select from gift_redeems where gift_id = ${gift.id} and ${openRedeem} limit 1`);
  if (!open) await releaseRest(tx, gift);
}
