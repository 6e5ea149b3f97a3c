import { type Db, sql } from '@svc/store';
import { isExpired, lockGift, openRedeem, releaseRemainder, shareOfRedeem } from '../src/gifts/gift.ts';
import { type LedgerOwner, release, settle } from '../src/ledger/ledger.ts';
import { newId } from '../src/util/ids.ts';

/** What a redeem does to a gift and its hold, in a few lines. */
export async function reserve(
  db: Db,
  owner: LedgerOwner,
  giftId: string,
  nowMs: number,
  chain: 'starknet' | 'solana',
): Promise<string | undefined> {
  return db.tx(async (tx) => {
    const gift = await lockGift(tx, owner, giftId);
    if (!gift || isExpired(gift, nowMs) || gift.totalRedeems >= gift.maxRedeems) return undefined;
    const id = newId('redeem');
    await tx.run(sql`update gifts set total_redeems = total_redeems + 1 where id = ${giftId}`);
    await tx.run(sql`
      insert into gift_redeems (id, gift_id, organization_id, environment, destination_chain, address, shown_address,
                                amount_micros, share_micros, hold_id)
      values (${id}, ${giftId}, ${owner.organizationId}, ${owner.environment}, ${chain}, '0x1', '0x01',
              ${gift.amount}, ${shareOfRedeem(gift, chain)}, ${gift.holdId})`);
    return id;
  });
}

/** Ends it, paid or not. */
export async function end(db: Db, redeemId: string, status: 'SUCCESS' | 'FAILED'): Promise<void> {
  await db.tx(async (tx) => {
    const gift = await lockOf(tx, redeemId);
    const redeem = await tx.one<{ share: bigint; amount: bigint; holdId: string }>(sql`
      update gift_redeems set status = ${status} where id = ${redeemId} and ${openRedeem}
      returning share_micros as share, amount_micros as amount, hold_id as "holdId"`);
    if (!redeem) throw new Error('This redeem has ended.');
    const { share: amount, holdId } = redeem;
    if (status === 'SUCCESS') {
      await tx.run(sql`update gifts set redeemed_micros = redeemed_micros + ${redeem.amount} where id = ${gift.id}`);
      await settle(tx, { holdId, amount, reference: redeemId });
      if (gift.total === gift.max && !(await hasOpen(tx, gift.id))) await releaseRemainder(tx, gift);
      return;
    }
    await tx.run(sql`update gifts set total_redeems = total_redeems - 1 where id = ${gift.id}`);
    if (gift.holdId !== holdId) await release(tx, { holdId, amount, reference: redeemId });
  });
}

async function lockOf(tx: Db, redeemId: string) {
  const gift = await tx.one<{ id: string; holdId: string | null; total: number; max: number }>(sql`
    select id, hold_id as "holdId", total_redeems as total, max_redeems as max from gifts
     where id = (select gift_id from gift_redeems where id = ${redeemId}) for no key update`);
  if (!gift) throw new Error('There is no such redeem.');
  return gift;
}

async function hasOpen(tx: Db, giftId: string): Promise<boolean> {
  return (
    (await tx.one(sql`select from gift_redeems where gift_id = ${giftId} and ${openRedeem} limit 1`)) !== undefined
  );
}
