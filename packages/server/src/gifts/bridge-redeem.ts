import { type Db, sql } from '@svc/store';
import { type FollowedBurn, followBurn, isPostponed, type NextStepMs, pollDelayMs } from '../bridge/follow-burn.ts';
import { enqueue, enqueueMany } from '../jobs/job.ts';
import { databaseTime } from '../relayer/relay-store.ts';
import { addFacts, type BridgedRedeem, burnOf, findBridged, lockBridged } from './bridge-store.ts';
import { type BurnDeps, burn } from './burn.ts';
import { BRIDGE_TASK, bridgeJob, endRedeems, succeedRedeem } from './redeem.ts';

export interface BridgeRedeemDeps extends BurnDeps {
  readonly now?: () => number;
}

/** One step of a redeem to Solana, from its stored state. Safe to repeat, also after a crash. */
export async function bridgeRedeem(deps: BridgeRedeemDeps, redeemId: string): Promise<void> {
  const redeem = await findBridged(deps.db, redeemId);
  if (!redeem) return;
  const next = await step(deps, redeem);
  if (next === undefined) return;
  await enqueue(deps.db, { ...bridgeJob(redeemId), runAt: new Date(Date.now() + next) });
}

async function step(deps: BridgeRedeemDeps, redeem: BridgedRedeem): Promise<NextStepMs> {
  const at = await databaseTime(deps.db.reads, deps.now);
  const retryMs = pollDelayMs(redeem.fast, at.getTime() - redeem.updatedAt.getTime());
  try {
    if (awaitsMint(redeem)) return await followBurn(deps, followed(deps, redeem), at);
    if (redeem.status !== 'PENDING' || redeem.relayId !== null) return undefined;
    // The outcome of a burn enqueues the next step.
    return (await burn(deps, redeem, at)) === 'WAITING' ? retryMs : undefined;
  } catch (error) {
    if (!isPostponed(error)) throw error;
    deps.log.warn({ redeemId: redeem.id, err: error }, 'bridge step postponed');
    return retryMs;
  }
}

function followed(deps: BridgeRedeemDeps, redeem: BridgedRedeem): FollowedBurn {
  const { db, log } = deps;
  const { id, environment, amount, facts, updatedAt, status } = redeem;
  return {
    ...{ environment, facts, updatedAt, burn: burnOf(redeem), arrives: amount, about: { redeemId: id } },
    storeAttested: (added) =>
      db.tx(async (tx) => {
        const to = status === 'BRIDGING' ? 'ATTESTED' : status;
        const moved = await tx.run(sql`
          update gift_redeems set status = ${to} where id = ${id} and status = ${status} and ${stillLate(facts.late)}`);
        if (moved === 1) await addFacts(tx, id, added);
        return moved === 1;
      }),
    countRenewal: (done, added) =>
      db.tx(async (tx) => {
        const now = await lockBridged(tx, sql`id = ${id}`);
        if (!now || (now.facts.renewals ?? 0) !== done) return false;
        await addFacts(tx, id, added);
        return true;
      }),
    arrived: (arrival) => db.tx((tx) => succeedRedeem(tx, id, arrival, log)),
    stop: (reason) => failBurned(deps, redeem, reason),
  };
}

const stillLate = (late = false) => sql`coalesce((bridge ->> 'late')::boolean, false) = ${late}`;

/** One that failed before its burn keeps its status; only polling ends. */
async function failBurned({ db, log }: BridgeRedeemDeps, redeem: BridgedRedeem, reason: string): Promise<void> {
  const { id, transactionHash } = redeem;
  await db.tx(async (tx) => {
    const now = await lockBridged(tx, sql`id = ${id}`);
    if (!now || !awaitsMint(now)) return;
    if (now.status === 'FAILED') await stopLate(tx, id, reason);
    else await endRedeems(tx, [{ id, end: 'FAILED', reason, burned: true }], log);
  });
  log.error({ redeemId: id, burn: transactionHash, reason }, 'redeem burned but not minted on Solana');
}

async function stopLate(tx: Db, id: string, reason: string): Promise<void> {
  await addFacts(tx, id, { late: false });
  await tx.run(sql`update gift_redeems set reason = ${reason} where id = ${id}`);
}

function awaitsMint({ status, facts }: Pick<BridgedRedeem, 'status' | 'facts'>): boolean {
  const isBurned = typeof facts.burnedAt === 'string';
  return isBurned && (status === 'BRIDGING' || status === 'ATTESTED' || (status === 'FAILED' && facts.late === true));
}

const MAX_REQUEUED = 1_000;

export async function requeueStalledRedeems(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const redeems = await tx.rows<{ id: string; organization_id: string }>(sql`
      select id, organization_id from gift_redeems
       where destination_chain = 'solana' and status in ('PENDING', 'BRIDGING', 'ATTESTED')
         and (relay_id is null or bridge ->> 'burnedAt' is not null)
         and not exists (
           select from jobs where task = ${BRIDGE_TASK} and key = gift_redeems.id and failed_at is null)
       order by id limit ${MAX_REQUEUED}`);
    await enqueueMany(
      tx,
      redeems.map(({ id, organization_id }) => bridgeJob(id, organization_id)),
    );
  });
}
