import { type Db, type Reads, sql } from '@svc/store';
import { type OperatorName, operatorOf, recordChange } from '../audit-log.ts';
import { enqueue } from '../jobs/job.ts';
import { addFacts, type BridgedRedeem, lockBridged } from './bridge-store.ts';
import { bridgeJob, REDEEMS_CHANNEL, type Redeem, redeemColumns, resumptions } from './redeem.ts';

export type Resumption =
  | { readonly ok: true; readonly status: BridgedRedeem['status']; readonly burn: string | null }
  | { readonly ok: false; readonly isMissing?: true; readonly reason: string };

/** Restarts all timeouts. The share is spent already and is not charged again. */
export async function resumeRedeem(tx: Db, id: string, operator?: OperatorName): Promise<Resumption> {
  const redeem = await lockBridged(tx, sql`id = ${id}`);
  if (!redeem) return { ok: false, isMissing: true, reason: 'No redeem to Solana has this id.' };
  const refusal = refusalOf(redeem);
  if (refusal !== undefined) return { ok: false, reason: refusal };
  const status = await sendOn(tx, redeem);
  await enqueue(tx, bridgeJob(id, redeem.organizationId));
  await tx.run(sql`select pg_notify(${REDEEMS_CHANNEL}, ${id})`);
  await recordChange(tx, operatorOf(redeem.organizationId, redeem.environment, operator), {
    action: 'gift-redeem.resumed',
    target: id,
    changes: { status },
  });
  return { ok: true, status, burn: redeem.transactionHash };
}

function refusalOf({ status, facts }: BridgedRedeem): string | undefined {
  if (resumptions[status].length === 0) return `This redeem is ${status}; only one that failed can be resumed.`;
  if (typeof facts.burnedAt === 'string') return undefined;
  return 'Nothing was burned for this redeem, and its share was given back. The code can be redeemed again.';
}

async function sendOn(tx: Db, redeem: BridgedRedeem): Promise<BridgedRedeem['status']> {
  const { id, holdId, facts } = redeem;
  const row = await tx.one<{ now: Date; settled: boolean }>(sql`
    select now() as now, exists (
      select from ledger_entries where hold_id = ${holdId} and type = 'SETTLE' and reference = ${id}) as settled`);
  const since = (row?.now ?? new Date()).toISOString();
  // Burned after its share was released: it keeps its status until the mint.
  if (!row?.settled) {
    await addFacts(tx, id, { since, renewals: 0, late: true });
    return redeem.status;
  }
  const to = facts.message === undefined ? 'BRIDGING' : 'ATTESTED';
  await tx.run(sql`
    update gift_redeems set status = ${to}, spent = true, reason = null where id = ${id} and status = 'FAILED'`);
  await addFacts(tx, id, { since, renewals: 0 });
  return to;
}

export interface StuckRedeem extends Redeem {
  readonly organizationName: string;
  readonly burnedAt: string;
}

export const isStuck = sql`
  destination_chain = 'solana' and status = 'FAILED' and bridge ->> 'burnedAt' is not null
  and coalesce(bridge ->> 'late', 'false') = 'false'`;

/** Burned on Starknet, failed, and not resumed since: one that was burned late keeps its status until the mint. */
export function stuckRedeems(reads: Reads, limit: number): Promise<StuckRedeem[]> {
  return reads.rows<StuckRedeem>(sql`
    select stuck.*, organizations.name as "organizationName"
      from (select ${redeemColumns}, bridge ->> 'burnedAt' as "burnedAt" from gift_redeems
             where ${isStuck}) as stuck
      join organizations on organizations.id = stuck."organizationId"
     order by stuck."burnedAt", stuck.id limit ${limit}`);
}

export async function countStuckRedeems(reads: Reads): Promise<number> {
  const row = await reads.one<{ count: number }>(sql`
    select count(*)::integer as count from gift_redeems where ${isStuck}`);
  return row?.count ?? 0;
}
