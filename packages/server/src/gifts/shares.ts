import type { UsdMicros } from '@svc/protocol';
import { type Db, type Sql, sql } from '@svc/store';
import { release } from '../ledger/end-hold.ts';
import type { GiftRecord } from './gift.ts';

type Costs = Pick<GiftRecord, 'amount' | 'gas' | 'bridge'>;

/** The most that one redemption may take out of the gift's hold, wherever it goes. */
export function shareOf({ amount, gas, bridge }: Costs): UsdMicros {
  return amount + gas + bridge;
}

/** What a redemption reserves: on Starknet nothing is bridged. */
export function shareOfRedeem({ amount, gas, bridge }: Costs, chain: 'starknet' | 'solana'): UsdMicros {
  return chain === 'solana' ? amount + gas + bridge : amount + gas;
}

/** A redeem that has not ended keeps its share in the hold it was taken from. */
export const openRedeem: Sql = sql`status in ('PENDING', 'BRIDGING', 'ATTESTED')`;

/**
 * Ends the hold of a gift that is exhausted, deleted or expired: what no open redeem has reserved becomes available again.
 * The caller has the gift's row locked. Answers how much that was.
 */
export async function releaseRest(tx: Db, { id, holdId }: Pick<GiftRecord, 'id' | 'holdId'>): Promise<UsdMicros> {
  if (holdId === null) return 0n;
  await tx.run(sql`update gifts set hold_id = null, updated_at = now() where id = ${id} and hold_id = ${holdId}`);
  const row = await tx.one<{ rest: UsdMicros }>(sql`
    select amount_micros - settled_micros - released_micros - (
             select coalesce(sum(share_micros), 0) from gift_redeems where hold_id = ${holdId} and ${openRedeem} and not spent
           )::bigint as rest
      from ledger_holds
     where id = ${holdId}`);
  if (!row || row.rest < 0n) throw new Error(`More is reserved for redeems of gift ${id} than its hold has.`);
  if (row.rest > 0n) await release(tx, { holdId, amount: row.rest, reference: 'rest' });
  return row.rest;
}
