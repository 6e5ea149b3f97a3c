import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import type { JobLog } from '../jobs/job.ts';
import { settle } from '../ledger/end-hold.ts';
import { hold } from '../ledger/hold.ts';
import type { Redeem } from './redeem.ts';
import { giftOfRedeem } from './redeemed-gift.ts';

/** What stands in the row of a redeem that was paid although nothing is left to pay it with; the operator settles it by hand. */
export const UNCOVERED = 'Paid after it had failed, and the organisation has no credits left for it.';

/**
 * A redeem whose share went back was paid after all: its share is taken once more, from the gift's hold while it has a place left, else
 * from the organisation's available credits. The chain does not ask whether there are any.
 */
export async function coverLateSuccess(tx: Db, redeem: Redeem, log?: Pick<JobLog, 'error'>): Promise<void> {
  if (await isSettled(tx, redeem)) return;
  const gift = await giftOfRedeem(tx, redeem);
  const hasPlace = gift.totalRedeems < gift.maxRedeems;
  if (hasPlace) await takePlace(tx, redeem);
  const holdId = hasPlace && gift.holdId !== null ? gift.holdId : await holdAnew(tx, redeem);
  if (holdId === undefined) {
    await tx.run(sql`update gift_redeems set reason = ${UNCOVERED} where id = ${redeem.id}`);
    log?.error({ redeemId: redeem.id }, 'a redeem was paid after it had failed, and no credits are left for it');
    return;
  }
  await tx.run(sql`update gift_redeems set hold_id = ${holdId} where id = ${redeem.id}`);
  await settle(tx, { holdId, amount: redeem.share, reference: redeem.id });
}

/** One that failed after its burn gave nothing back. */
async function isSettled(tx: Db, { holdId, id }: Redeem): Promise<boolean> {
  const entry = await tx.one(sql`
    select from ledger_entries where hold_id = ${holdId} and type = 'SETTLE' and reference = ${id}`);
  return entry !== undefined;
}

async function takePlace(tx: Db, { giftId, address }: Redeem): Promise<void> {
  await tx.run(sql`update gifts set total_redeems = total_redeems + 1 where id = ${giftId}`);
  await tx.run(sql`update gift_users set redeems = redeems + 1 where gift_id = ${giftId} and address = ${address}`);
}

async function holdAnew(tx: Db, redeem: Redeem): Promise<string | undefined> {
  try {
    const { organizationId, environment, share, id } = redeem;
    return (await hold(tx, { organizationId, environment, amount: share, reference: id })).id;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'insufficient_credits') return undefined;
    throw error;
  }
}
