import { type Db, sql } from '@svc/store';
import type { JobLog } from '../jobs/job.ts';
import { release, settle } from '../ledger/end-hold.ts';
import { coverLateSuccess } from './late-success.ts';
import { type Redeem, redeemColumns, reorganisations, statusesBefore } from './redeem.ts';
import { giftOfRedeem, releaseIfExhausted } from './redeemed-gift.ts';

/** Where those who wait for a redeem hear that it has changed. */
export const REDEEMS_CHANNEL = 'svc_redeems';

export interface SuccessFacts {
  readonly transactionHash?: string;
  readonly receiveHash?: string;
}

export interface FailureFacts {
  readonly reason: string;
  /** The amount has left Starknet, so it is spent: nothing goes back, and the operator can send it on. */
  readonly burned?: boolean;
}

export type RedeemEnd = { readonly id: string } & (
  | ({ readonly end: 'SUCCESS' } & SuccessFacts)
  | ({ readonly end: 'FAILED' } & FailureFacts)
);

type ErrorLog = Pick<JobLog, 'error'>;

/** Paid: settles the share, and releases what is left of an exhausted gift. Once more, it only keeps the facts. */
export function succeedRedeem(tx: Db, id: string, facts: SuccessFacts, log?: ErrorLog): Promise<void> {
  return endRedeems(tx, [{ id, end: 'SUCCESS', ...facts }], log);
}

/** Not paid, and it never will be: the share and the place go back. Once more, or after a success, it is nothing. */
export function failRedeem(tx: Db, id: string, reason: string): Promise<void> {
  return endRedeems(tx, [{ id, end: 'FAILED', reason }]);
}

/**
 * Ends several redeems in the caller's transaction. All gifts are locked before the first credit moves, and ledgers in one
 * order, that of their characters whatever the database's language, so that nobody who does the same waits for us in a circle.
 */
export async function endRedeems(tx: Db, ends: readonly RedeemEnd[], log?: ErrorLog): Promise<void> {
  const ids = ends.map(({ id }) => id);
  await tx.rows(sql`
    select id from gifts where id in (select gift_id from gift_redeems where id = any(${ids}))
     order by id for no key update`);
  const redeems = await tx.rows<Redeem>(sql`
    select ${redeemColumns} from gift_redeems where id = any(${ids})
     order by organization_id collate "C", environment collate "C", id for no key update`);
  const endOf = new Map(ends.map((end) => [end.id, end]));
  if (redeems.length !== endOf.size) throw new Error('A redeem that is to end does not exist.');
  for (const redeem of redeems) {
    const end = endOf.get(redeem.id);
    if (end?.end === 'SUCCESS') await succeed(tx, redeem, end, log);
    else if (end) await fail(tx, redeem, end);
  }
}

async function succeed(tx: Db, redeem: Redeem, facts: SuccessFacts, log: ErrorLog | undefined): Promise<void> {
  const { id, status } = redeem;
  if (status !== 'SUCCESS' && !statusesBefore('SUCCESS', reorganisations).includes(status)) {
    throw new Error(`Redeem ${id} cannot end in SUCCESS from ${status}.`);
  }
  await tx.run(sql`
    update gift_redeems
       set status = 'SUCCESS', transaction_hash = coalesce(${facts.transactionHash ?? null}, transaction_hash),
           receive_hash = coalesce(${facts.receiveHash ?? null}, receive_hash), updated_at = now(),
           reason = case when status = 'SUCCESS' then reason end
     where id = ${id} and status = ${status}`);
  if (status === 'SUCCESS') return;
  await tx.run(sql`
    update gifts set redeemed_micros = redeemed_micros + ${redeem.amount} where id = ${redeem.giftId}`);
  if (status === 'FAILED') await coverLateSuccess(tx, redeem, log);
  else await settle(tx, { holdId: redeem.holdId, amount: redeem.share, reference: id });
  await releaseIfExhausted(tx, redeem);
  await announce(tx, id);
}

async function fail(tx: Db, redeem: Redeem, { reason, burned = false }: FailureFacts): Promise<void> {
  const { id, status } = redeem;
  if (!statusesBefore('FAILED').includes(status)) return;
  // What was given back loses its key: whoever repeats the request tries anew.
  await tx.run(sql`
    update gift_redeems
       set status = 'FAILED', reason = ${reason}, request_key = case when ${burned} then request_key end, updated_at = now()
     where id = ${id} and status = ${status}`);
  if (burned) {
    await settle(tx, { holdId: redeem.holdId, amount: redeem.share, reference: id });
    await releaseIfExhausted(tx, redeem);
  } else {
    await giveBack(tx, redeem);
  }
  await announce(tx, id);
}

/** The place is free for another redeem. The share stays with the gift for it, unless the gift's hold was released meanwhile. */
async function giveBack(tx: Db, redeem: Redeem): Promise<void> {
  await tx.run(sql`update gifts set total_redeems = total_redeems - 1 where id = ${redeem.giftId}`);
  await tx.run(sql`
    update gift_users set redeems = redeems - 1 where gift_id = ${redeem.giftId} and address = ${redeem.address}`);
  const { holdId } = await giftOfRedeem(tx, redeem);
  if (holdId === redeem.holdId) return;
  await release(tx, { holdId: redeem.holdId, amount: redeem.share, reference: redeem.id });
}

async function announce(tx: Db, id: string): Promise<void> {
  await tx.run(sql`select pg_notify(${REDEEMS_CHANNEL}, ${id})`);
}
