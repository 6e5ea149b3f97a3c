import type { Environment, RedeemStatus, UsdMicros } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { StoredRelay } from '../relayer/relay.ts';

export interface DueRedeem {
  readonly id: string;
  readonly giftId: string;
  readonly address: string;
  readonly amount: UsdMicros;
  readonly status: RedeemStatus;
  readonly alone: boolean;
  /** No younger redeem may be paid before it. */
  readonly overdue: boolean;
}

/** Time for the operator to send more USDC, while smaller redeems use what is left. */
const OVERTAKEN_FOR_HOURS = 24;

const overdue = sql`created_at < now() - make_interval(hours => ${OVERTAKEN_FOR_HOURS})`;
const dueColumns = sql`id, gift_id as "giftId", address, amount_micros as amount, status, alone, ${overdue} as overdue`;

/** The last condition is implied by the others; the partial index needs it. SUCCESS: a reorganisation removed the payout. */
const waiting: Sql = sql`
  destination_chain = 'starknet' and relay_id is null and (status = 'PENDING' or status = 'SUCCESS' and alone)
    and status in ('PENDING', 'SUCCESS')`;

const dueIn = (environment: Environment): Sql => sql`
  environment = ${environment} and ${waiting} and coalesce(not_before <= now(), true)`;

export function waitingRedeems(reads: Reads, environment: Environment, limit: number): Promise<DueRedeem[]> {
  return reads.rows<DueRedeem>(sql`
    select ${dueColumns} from gift_redeems where ${dueIn(environment)} order by created_at, id limit ${limit}`);
}

/** Overdue redeems above `available` stop younger ones, so that the balance can grow to their amount; others are overtaken. */
export function affordableRedeems(
  reads: Reads,
  environment: Environment,
  available: UsdMicros,
  limit: number,
): Promise<DueRedeem[]> {
  return reads.rows<DueRedeem>(sql`
    with blocking as (
      select created_at, id from gift_redeems
       where ${dueIn(environment)} and ${overdue} and amount_micros > ${available}::numeric
       order by created_at, id limit 1
    )
    select ${dueColumns} from gift_redeems
     where ${dueIn(environment)} and amount_micros <= ${available}::numeric
       and not exists (
         select from blocking
          where (blocking.created_at, blocking.id) < (gift_redeems.created_at, gift_redeems.id))
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

/** All or none: a redeem that is in another payout, or has ended, is not paid again. */
export async function putIntoPayout(tx: Db, redeems: readonly DueRedeem[], { id, hash }: StoredRelay): Promise<void> {
  const ids = redeems.map((redeem) => redeem.id);
  const changed = await tx.run(sql`
    update gift_redeems
       set relay_id = ${id}, updated_at = now(),
           transaction_hash = ${hash === undefined ? null : toHex(hash)}
     where id = any(${ids}) and ${waiting}`);
  if (changed !== ids.length) throw new Error('Some redeems of a payout are in another one, or have ended.');
}

/** Locks the gift first, in the same order as everywhere. False where another process put it into a payout, or it has ended. */
export async function lockWaiting(tx: Db, { id, giftId }: Pick<DueRedeem, 'id' | 'giftId'>): Promise<boolean> {
  await tx.rows(sql`select id from gifts where id = ${giftId} for no key update`);
  return (await tx.one(sql`select from gift_redeems where id = ${id} and ${waiting} for no key update`)) !== undefined;
}

export function redeemsOf(db: Db, relayId: string): Promise<DueRedeem[]> {
  return db.rows<DueRedeem>(sql`
    select ${dueColumns} from gift_redeems where relay_id = ${relayId} order by created_at, id`);
}

/** `alone`, because one of them may be why their payout failed. */
export async function requeueRedeems(tx: Db, relayId: string): Promise<number> {
  return tx.run(sql`
    update gift_redeems set relay_id = null, alone = true, updated_at = now()
     where relay_id = ${relayId} and status in ('PENDING', 'SUCCESS')`);
}

export async function postponeRedeem(db: Db, id: string, seconds: number): Promise<void> {
  await db.run(sql`
    update gift_redeems set not_before = now() + make_interval(secs => ${seconds}), updated_at = now() where id = ${id}`);
}

export async function failedPayouts(reads: Reads, chainId: bigint, limit: number): Promise<string[]> {
  const rows = await reads.rows<{ id: string }>(sql`
    select id from relays
     where chain_id = ${toHex(chainId)} and state in ('REVERTED', 'VOIDED') and account is not null and kind = 'payout'
       and not_after > now()
     order by created_at limit ${limit}`);
  return rows.map(({ id }) => id);
}
