import { type Db, sql } from '@svc/store';
import { enqueue } from '../jobs/job.ts';
import { addFacts, type BridgedRedeem, lockBridged } from './bridge-store.ts';
import { bridgeJob, REDEEMS_CHANNEL, resumptions } from './redeem.ts';

export type Resumption =
  | { readonly ok: true; readonly status: BridgedRedeem['status']; readonly burn: string | null }
  | { readonly ok: false; readonly reason: string };

/** Restarts all timeouts. The share is spent already and is not charged again. */
export function resumeRedeem(db: Db, id: string): Promise<Resumption> {
  return db.tx(async (tx) => {
    const redeem = await lockBridged(tx, sql`id = ${id}`);
    if (!redeem) return { ok: false, reason: 'No redeem to Solana has this id.' };
    const refusal = refusalOf(redeem);
    if (refusal !== undefined) return { ok: false, reason: refusal };
    const status = await sendOn(tx, redeem);
    await enqueue(tx, bridgeJob(id, redeem.organizationId));
    await tx.run(sql`select pg_notify(${REDEEMS_CHANNEL}, ${id})`);
    return { ok: true, status, burn: redeem.transactionHash };
  });
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
