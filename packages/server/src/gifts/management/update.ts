import { ApiError, type endpoints, type Gift } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import type { Answer, Call } from '../../http/call.ts';
import { hold } from '../../ledger/hold.ts';
import { findGift, type GiftRecord, isExpired, lockGift, toGift } from '../gift.ts';
import { openRedeem, releaseRest, shareOf } from '../shares.ts';
import { readExpiry, requireAfter } from './fields.ts';
import type { GiftParts } from './parts.ts';

type UpdateGift = typeof endpoints.updateGift;

/** Changes a gift, and its hold with it where its expiry moves over the present. */
export async function updateGift(
  { now = Date.now }: Pick<GiftParts, 'now'>,
  { caller, params, body, transact }: Call<UpdateGift>,
): Promise<Answer<UpdateGift>> {
  const expiry = body.expiresAt === undefined ? undefined : readExpiry(body.expiresAt);
  return transact(async (tx): Promise<Gift> => {
    const gift = await lockGift(tx, caller, params.id);
    if (!gift) throw new ApiError('gift_not_found');
    const { name = gift.name, isActive = gift.isActive } = body;
    const expiresAt = expiry === undefined ? gift.expiresAt : expiry;
    requireAfter(expiresAt, gift.startsAt);
    await tx.run(sql`
      update gifts set name = ${name}, is_active = ${isActive}, expires_at = ${expiresAt}, updated_at = now()
       where id = ${gift.id}`);
    if (isExpired({ expiresAt }, now())) await releaseRest(tx, gift);
    else if (gift.holdId === null) await holdAgain(tx, gift);
    const changed = await findGift(tx, caller, gift.id);
    if (!changed) throw new Error('A gift that was changed is not there.');
    return toGift(changed);
  });
}

/**
 * Holds what the redemptions that are left may cost. An open redeem has its share in the hold before; it is counted again here,
 * because its place is free once more if it fails.
 */
async function holdAgain(tx: Db, gift: GiftRecord): Promise<void> {
  const row = await tx.one<{ open: bigint }>(sql`
    select count(*) as open from gift_redeems where gift_id = ${gift.id} and ${openRedeem}`);
  const left = BigInt(gift.maxRedeems - gift.totalRedeems) + (row?.open ?? 0n);
  if (left === 0n) return;
  const { id } = await hold(tx, { ...gift, amount: shareOf(gift) * left, reference: gift.id });
  await tx.run(sql`update gifts set hold_id = ${id} where id = ${gift.id}`);
}
