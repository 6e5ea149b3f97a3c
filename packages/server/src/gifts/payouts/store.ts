import type { Environment, RedeemStatus, UsdMicros } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { StoredRelay } from '../../relayer/sponsor.ts';

/** A redeem, as far as paying it needs to know. */
export interface Due {
  readonly id: string;
  readonly address: string;
  readonly amount: UsdMicros;
  readonly status: RedeemStatus;
  /** Not gathered with others. */
  readonly alone: boolean;
}

const dueColumns = sql`id, address, amount_micros as amount, status, alone`;

/**
 * In no payout: nobody has paid it yet, or a reorganisation took the payment away after it had counted as paid. The latter were put
 * here by `freeRedeems` and are always alone. The last line says nothing new, but the index is found by it.
 */
const waiting: Sql = sql`
  destination_chain = 'starknet' and relay_id is null and (status = 'PENDING' or status = 'SUCCESS' and alone)
    and status in ('PENDING', 'SUCCESS')`;

/** The oldest first. */
export function waitingRedeems(reads: Reads, environment: Environment, limit: number): Promise<Due[]> {
  return reads.rows<Due>(sql`
    select ${dueColumns} from gift_redeems
     where environment = ${environment} and ${waiting} and coalesce(not_before <= now(), true)
     order by created_at, id limit ${limit}`);
}

export interface Waiting {
  readonly environment: Environment;
  readonly count: number;
  readonly oldestSeconds: number;
}

export async function countWaiting(reads: Reads): Promise<Waiting[]> {
  const rows = await reads.rows<{ environment: Environment; count: bigint; oldest: number }>(sql`
    select environment, count(*) as count, extract(epoch from now() - min(created_at))::float8 as oldest
      from gift_redeems where ${waiting} group by environment`);
  return rows.map(({ environment, count, oldest }) => ({
    environment,
    count: Number(count),
    oldestSeconds: Math.max(0, oldest),
  }));
}

/** What is on its way, or may be: more than the chain has yet taken off the manager's balance. */
export async function sumUnderWay(reads: Reads, chainId: bigint, manager: string): Promise<UsdMicros> {
  const row = await reads.one<{ sum: bigint }>(sql`
    select coalesce(sum(share_micros), 0)::bigint as sum
      from relays join gift_redeems on relay_id = relays.id
     where chain_id = ${toHex(chainId)} and account = ${manager} and state in ('STORED', 'SENT')`);
  return row?.sum ?? 0n;
}

/** Puts redeems into a payout, all of them or none: what is in another one, or has ended, is not paid again. */
export async function putIntoPayout(tx: Db, redeems: readonly Due[], { id, hash }: StoredRelay): Promise<void> {
  const ids = redeems.map((redeem) => redeem.id);
  const changed = await tx.run(sql`
    update gift_redeems
       set relay_id = ${id}, updated_at = now(),
           transaction_hash = ${hash === undefined ? null : toHex(hash)}
     where id = any(${ids}) and ${waiting}`);
  if (changed !== ids.length) throw new Error('Some redeems of a payout are in another one, or have ended.');
}

export function redeemsOf(db: Db, relayId: string): Promise<Due[]> {
  return db.rows<Due>(sql`
    select ${dueColumns} from gift_redeems where relay_id = ${relayId} order by created_at, id`);
}

/** They wait to be paid again, each by itself, because one of them may be why their payout failed. */
export async function freeRedeems(tx: Db, relayId: string): Promise<number> {
  return tx.run(sql`
    update gift_redeems set relay_id = null, alone = true, updated_at = now()
     where relay_id = ${relayId} and status in ('PENDING', 'SUCCESS')`);
}

/** Nothing is tried before that. */
export async function postpone(db: Db, id: string, seconds: number): Promise<void> {
  await db.run(sql`
    update gift_redeems set not_before = now() + make_interval(secs => ${seconds}), updated_at = now() where id = ${id}`);
}

/** Payouts that ended without paying, and whose redeems are still theirs, the oldest first. */
export async function unpaidPayouts(reads: Reads, chainId: bigint, limit: number): Promise<string[]> {
  const rows = await reads.rows<{ id: string }>(sql`
    select id from relays
     where chain_id = ${toHex(chainId)} and state in ('REVERTED', 'VOIDED') and account is not null and kind = 'payout'
       and not_after > now()
     order by created_at limit ${limit}`);
  return rows.map(({ id }) => id);
}
