import { type Db, sql } from '@svc/store';
import type { RedeemChain } from './claim.ts';

export interface RedeemRow {
  readonly id: string;
  readonly gift: string;
  readonly organization: string;
  readonly chain: RedeemChain;
  /** In its normal form. */
  readonly address: string;
  readonly status: string;
  readonly reason: string | null;
  readonly amount: bigint;
  readonly share: bigint;
  readonly hold: string;
  readonly hash: string | null;
  /** What the payout or burn has come to; null where there is none. */
  readonly relay: string | null;
  /** What a burn takes: the amount and the ceiling of the bridge's fee. */
  readonly burns: bigint;
  /** Whether its burn stands on the chain. */
  readonly burned: boolean;
  /** Burned after it had failed, and still on its way. */
  readonly late: boolean;
}

export function redeemRows(db: Db): Promise<RedeemRow[]> {
  return db.rows<RedeemRow>(sql`
    select redeem.id, gift_id as gift, organization_id as organization, destination_chain as chain, address, status, reason,
           amount_micros as amount, share_micros as share, hold_id as hold, transaction_hash as hash, relays.state as relay,
           amount_micros + coalesce((bridge ->> 'maxFee')::bigint, 0) as burns,
           bridge ->> 'burnedAt' is not null as burned, coalesce((bridge ->> 'late')::boolean, false) as late
      from gift_redeems as redeem left join relays on relays.id = relay_id
     order by redeem.created_at, redeem.id`);
}

export const hasEnded = ({ status, late }: RedeemRow): boolean =>
  status === 'SUCCESS' || (status === 'FAILED' && !late);

/** It failed after its burn: its money is with the bridge, and the operator sends it on. */
export const isStuck = (row: RedeemRow): boolean => row.status === 'FAILED' && row.burned && !row.late;
