import { ApiError, type ErrorCode } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import type { Attested } from '../bridge/bridge.ts';
import { enqueue, enqueueMany } from '../jobs/job.ts';
import { databaseTime } from '../relayer/relay-store.ts';
import { addFacts, type BridgedRedeem, burnOf, findBridged, lockBridged, ownerOf } from './bridge-store.ts';
import { type BurnDeps, burn } from './burn.ts';
import { BRIDGE_TASK, bridgeJob, endRedeems, succeedRedeem } from './redeem.ts';

export interface BridgeRedeemDeps extends BurnDeps {
  readonly now?: () => number;
}

type NextStepMs = number | undefined;

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
    if (awaitsMint(redeem)) return await pollBridge(deps, redeem, at);
    if (redeem.status !== 'PENDING' || redeem.relayId !== null) return undefined;
    // The outcome of a burn enqueues the next step.
    return (await burn(deps, redeem, at)) === 'WAITING' ? retryMs : undefined;
  } catch (error) {
    if (!isTransient(error)) throw error;
    deps.log.warn({ redeemId: redeem.id, err: error }, 'bridge step postponed');
    return retryMs;
  }
}

const TRANSIENT: ReadonlySet<ErrorCode> = new Set(['chain_unavailable', 'chain_not_configured', 'fee_too_high']);

const isTransient = (error: unknown): boolean => error instanceof ApiError && TRANSIENT.has(error.code);

async function pollBridge(deps: BridgeRedeemDeps, redeem: BridgedRedeem, at: Date): Promise<NextStepMs> {
  const progress = await deps.bridge.progress(redeem.environment, burnOf(redeem));
  if (progress.state === 'ATTESTED') return awaitForwarding(deps, redeem, progress, at);
  if (progress.state === 'WRONG') return failBurned(deps, redeem, progress.reason);
  const ageMs = ageOf(redeem, at);
  if (ageMs <= attestationTimeoutMs(redeem.fast)) return pollDelayMs(redeem.fast, ageMs);
  const missing = progress.state === 'PENDING' ? 'attest it' : 'see the burn';
  return failBurned(deps, redeem, `The bridge did not ${missing} in time.`);
}

async function awaitForwarding(
  deps: BridgeRedeemDeps,
  redeem: BridgedRedeem,
  attested: Attested,
  at: Date,
): Promise<NextStepMs> {
  const isNew = redeem.facts.message === undefined;
  if (isNew && !(await storeAttested(deps, redeem, attested, at))) return undefined;
  const { forwardState, receiveHash } = attested;
  if (forwardState === 'COMPLETE' && receiveHash !== undefined) {
    return awaitCredit(deps, redeem, { ...attested, receiveHash }, isNew ? 0 : ageOf(redeem, at));
  }
  const ageMs = isNew ? 0 : ageOf(redeem, at);
  if (forwardState === 'FAILED' || ageMs > FORWARD_TIMEOUT_MS) return reattest(deps, redeem, attested.nonce, at);
  return pollDelayMs(true, ageMs);
}

/**
 * `SUCCESS` once Solana shows the credit. While no node answers it waits without an end; where the nodes contradict the bridge,
 * the operator looks at it after a while. Either way the burn stays the only one.
 */
async function awaitCredit(
  deps: BridgeRedeemDeps,
  redeem: BridgedRedeem,
  { nonce, receiveHash }: { readonly nonce: string; readonly receiveHash: string },
  ageMs: number,
): Promise<NextStepMs> {
  const { id, environment, amount } = redeem;
  const mint = { signature: receiveHash, nonce, owner: ownerOf(redeem), amount };
  const check = await deps.bridge.checkMint(environment, mint);
  if (!check || check.credited) {
    const receiveProof = check ? 'CHAIN' : 'BRIDGE';
    await deps.db.tx((tx) => succeedRedeem(tx, id, { receiveHash, receiveProof }, deps.log));
    return undefined;
  }
  const { reason } = check;
  deps.log.warn({ redeemId: id, mint: receiveHash, reason }, 'reported mint not found on Solana');
  if (ageMs <= CREDIT_TIMEOUT_MS) return pollDelayMs(true, ageMs);
  return failBurned(deps, redeem, `The bridge says that ${receiveHash} minted it, but ${reason}.`);
}

/** With the message and its attestation anyone can mint, without the bridge's service. */
async function storeAttested(
  { db }: BridgeRedeemDeps,
  { id, status, facts }: BridgedRedeem,
  { nonce, message, attestation, feeExecuted }: Attested,
  at: Date,
): Promise<boolean> {
  return db.tx(async (tx) => {
    const to = status === 'BRIDGING' ? 'ATTESTED' : status;
    const moved = await tx.run(sql`
      update gift_redeems set status = ${to} where id = ${id} and status = ${status} and ${stillLate(facts.late)}`);
    if (moved !== 1) return false;
    const attestedAt = at.toISOString();
    const fee = { feeExecuted: String(feeExecuted) };
    await addFacts(tx, id, { nonce, message, attestation, ...fee, attestedAt, since: attestedAt });
    return true;
  });
}

const stillLate = (late = false) => sql`coalesce((bridge ->> 'late')::boolean, false) = ${late}`;

async function reattest(deps: BridgeRedeemDeps, redeem: BridgedRedeem, nonce: string, at: Date): Promise<NextStepMs> {
  const done = redeem.facts.renewals ?? 0;
  const delayMs = REATTEST_DELAYS_MS[done];
  if (delayMs === undefined) return failBurned(deps, redeem, 'The bridge attested the burn and did not mint.');
  const counted = await deps.db.tx(async (tx) => {
    const now = await lockBridged(tx, sql`id = ${redeem.id}`);
    if (!now || (now.facts.renewals ?? 0) !== done) return false;
    await addFacts(tx, redeem.id, { renewals: done + 1, since: at.toISOString() });
    return true;
  });
  if (counted) {
    deps.log.warn({ redeemId: redeem.id, renewals: done + 1 }, 'attestation renewal requested');
    await deps.bridge.reattest(redeem.environment, nonce);
  }
  return delayMs;
}

/** One that failed before its burn keeps its status; only polling ends. */
async function failBurned({ db, log }: BridgeRedeemDeps, redeem: BridgedRedeem, reason: string): Promise<undefined> {
  const { id, transactionHash } = redeem;
  await db.tx(async (tx) => {
    const now = await lockBridged(tx, sql`id = ${id}`);
    if (!now || !awaitsMint(now)) return;
    if (now.status === 'FAILED') await stopLate(tx, id, reason);
    else await endRedeems(tx, [{ id, end: 'FAILED', reason, burned: true }], log);
  });
  log.error({ redeemId: id, burn: transactionHash, reason }, 'redeem burned but not minted on Solana');
  return undefined;
}

async function stopLate(tx: Db, id: string, reason: string): Promise<void> {
  await addFacts(tx, id, { late: false });
  await tx.run(sql`update gift_redeems set reason = ${reason} where id = ${id}`);
}

function awaitsMint({ status, facts }: Pick<BridgedRedeem, 'status' | 'facts'>): boolean {
  const isBurned = typeof facts.burnedAt === 'string';
  return isBurned && (status === 'BRIDGING' || status === 'ATTESTED' || (status === 'FAILED' && facts.late === true));
}

function ageOf({ facts, updatedAt }: BridgedRedeem, at: Date): number {
  const since = facts.since === undefined ? updatedAt : new Date(facts.since);
  return Math.max(0, at.getTime() - since.getTime());
}

const MIN_POLL_MS = 2_000;
const MAX_POLL_MS = { fast: 15_000, standard: 180_000 };
const POLLS_PER_AGE = 4;

export function pollDelayMs(fast: boolean, ageMs: number): number {
  const longest = fast ? MAX_POLL_MS.fast : MAX_POLL_MS.standard;
  return Math.min(Math.max(ageMs / POLLS_PER_AGE, MIN_POLL_MS), longest);
}

const HOUR_MS = 3_600_000;
/** Circle documents 20 seconds and 8 hours. */
const ATTESTATION_TIMEOUT_MS = { fast: HOUR_MS, standard: 24 * HOUR_MS };
/** An attestation that is unused for so long may have expired. */
const FORWARD_TIMEOUT_MS = HOUR_MS;
/** Transactions are confirmed within seconds, or never. */
export const CREDIT_TIMEOUT_MS = HOUR_MS;
/** The wait after each renewal. The number of renewals is bounded by the list. */
export const REATTEST_DELAYS_MS: readonly number[] = [5_000, 30_000, 180_000, 900_000, HOUR_MS];

const attestationTimeoutMs = (fast: boolean): number =>
  fast ? ATTESTATION_TIMEOUT_MS.fast : ATTESTATION_TIMEOUT_MS.standard;

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
