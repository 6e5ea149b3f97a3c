import { ApiError, type Environment, type ErrorCode } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, sql } from '@svc/store';
import type { Attested, Bridge } from '../bridge/bridge.ts';
import { isSolanaWallet } from '../bridge/solana-address.ts';
import { transfersIn } from '../chains/starknet/chain.ts';
import { enqueue, enqueueMany, type JobLog } from '../jobs/job.ts';
import type { OutcomeHandlers, RelayOutcome } from '../relayer/outcome.ts';
import type { Payer } from '../relayer/payer.ts';
import type { StoredRelay } from '../relayer/relay.ts';
import { abandonRelay, databaseTime, reinstateRelay } from '../relayer/relay-store.ts';
import { errorText } from '../util/text.ts';
import {
  addFacts,
  type BridgedRedeem,
  type BridgeFacts,
  burnOf,
  findBridged,
  lockBridged,
  ownerOf,
} from './bridge-store.ts';
import { BRIDGE_TASK, bridgeJob, endRedeems, failRedeem, REDEEMS_CHANNEL, succeedRedeem } from './redeem.ts';

/**
 * One step of a redeem on its way to Solana: from PENDING it is burned, and the end of that transaction calls again; from then on the
 * bridge is asked until the mint is there. Where it comes twice, or again after a crash, it goes on from what is stored.
 */
export async function bridgeRedeem(deps: BridgingDeps, redeemId: string): Promise<void> {
  const redeem = await findBridged(deps.db, redeemId);
  if (!redeem) return;
  const next = await step(deps, redeem);
  if (next === undefined) return;
  await enqueue(deps.db, { ...bridgeJob(redeemId), runAt: new Date(Date.now() + next) });
}

async function step(deps: BridgingDeps, redeem: BridgedRedeem): Promise<NextLook> {
  const at = await databaseTime(deps.db.reads, deps.now);
  try {
    if (isFollowed(redeem)) return await followBurn(deps, redeem, at);
    if (redeem.status === 'PENDING' && redeem.relayId === null) await burn(deps, redeem, at);
    return undefined;
  } catch (error) {
    if (!isPassing(error)) throw error;
    deps.log.warn({ redeemId: redeem.id, reason: errorText(error) }, 'a redeem to Solana has to wait');
    return nextLookMs(redeem.fast, at.getTime() - redeem.updatedAt.getTime());
  }
}

/** A node, the bridge or the operator's configuration is away, or gas is too dear. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['chain_unavailable', 'chain_not_configured', 'fee_too_high']);

const isPassing = (error: unknown): boolean => error instanceof ApiError && PASSING.has(error.code);

/** One for ever: a redeem is burned by one transaction or by none, however often this is tried. */
export const burnPurpose = (redeemId: string): string => `burn ${redeemId}`;

/**
 * Burns a redeem's amount and what the gift has reserved for the bridge's fee, so that at least the amount arrives. It is BRIDGING from
 * the moment in which its transaction is stored. Before that, whatever speaks against it ends it and gives its share back.
 */
export async function burn(deps: BridgingDeps, redeem: BridgedRedeem, at: Date): Promise<void> {
  const { bridge, payer } = deps;
  const { id, environment, amount, bridge: maxFee, fast } = redeem;
  const against = await reasonAgainst(deps, redeem, at);
  if (against !== undefined) return failBeforeBurn(deps, id, against);
  const sender = payer.manager(environment);
  const calls = bridge.burnCalls(environment, { amount: amount + maxFee, maxFee, owner: ownerOf(redeem), fast });
  const facts: BridgeFacts = { sender: toHex(sender), maxFee: String(maxFee), fast };
  const answer = await payer.pay({ environment, kind: 'burn', purpose: burnPurpose(id), calls }, (tx, relay) =>
    storeBurn(tx, id, relay, facts),
  );
  if (!answer.ok) await failBeforeBurn(deps, id, `The burn would be reverted: ${answer.reason}`);
}

async function reasonAgainst(deps: BridgingDeps, redeem: BridgedRedeem, at: Date): Promise<string | undefined> {
  const { environment, amount, bridge: maxFee, fast, createdAt } = redeem;
  if (at.getTime() - createdAt.getTime() > BURNED_WITHIN_MS) return 'It could not be burned in time.';
  if (!isSolanaWallet(ownerOf(redeem))) return 'Nobody can have the key of this address: it is no wallet.';
  const fee = await deps.bridge.fee(environment, amount + maxFee, fast);
  // The bridge would not mint what does not pay for it, and there would be no way back.
  return fee > maxFee ? `The bridge takes ${fee} at present, and ${maxFee} is reserved for it.` : undefined;
}

async function storeBurn(tx: Db, id: string, { id: relayId, hash }: StoredRelay, facts: BridgeFacts): Promise<void> {
  if (hash === undefined) throw new Error('A burn has no hash.');
  const stored = await tx.run(sql`
    update gift_redeems
       set status = 'BRIDGING', relay_id = ${relayId}, transaction_hash = ${toHex(hash)},
           bridge = ${JSON.stringify(facts)}::jsonb, updated_at = now()
     where id = ${id} and status = 'PENDING' and relay_id is null`);
  if (stored !== 1) throw new Error(`Redeem ${id} has ended or is burned already.`);
  await tx.run(sql`select pg_notify(${REDEEMS_CHANNEL}, ${id})`);
}

async function failBeforeBurn({ db, log }: BridgingDeps, id: string, reason: string): Promise<void> {
  const gaveUp = await db.tx(async (tx) => {
    const redeem = await lockBridged(tx, sql`id = ${id}`);
    if (redeem?.status !== 'PENDING' || redeem.relayId !== null) return false;
    await failRedeem(tx, id, reason);
    return true;
  });
  if (gaveUp) log.warn({ redeemId: id, reason }, 'a redeem to Solana was given back before anything was burned');
}

/** In how many milliseconds to look again; undefined when there is nothing left to do. */
export type NextLook = number | undefined;

/**
 * Takes a burned redeem a step further. There is no way back any more: it is minted, or it fails with its share spent and waits for
 * the operator.
 */
export async function followBurn(deps: BridgingDeps, redeem: BridgedRedeem, at: Date): Promise<NextLook> {
  const progress = await deps.bridge.progress(redeem.environment, burnOf(redeem));
  if (progress.state === 'ATTESTED') return forward(deps, redeem, progress, at);
  if (progress.state === 'WRONG') return stop(deps, redeem, progress.reason);
  const ageMs = ageOf(redeem, at);
  if (ageMs <= attestedWithinMs(redeem.fast)) return nextLookMs(redeem.fast, ageMs);
  const seen = progress.state === 'PENDING' ? 'attest it' : 'see the burn';
  return stop(deps, redeem, `The bridge did not ${seen} in time.`);
}

async function forward(deps: BridgingDeps, redeem: BridgedRedeem, attested: Attested, at: Date): Promise<NextLook> {
  const isNew = redeem.facts.message === undefined;
  if (isNew && !(await storeAttested(deps, redeem, attested, at))) return undefined;
  const { forwardState, receiveHash } = attested;
  if (forwardState === 'COMPLETE' && receiveHash !== undefined) {
    await deps.db.tx((tx) => succeedRedeem(tx, redeem.id, { receiveHash }, deps.log));
    return undefined;
  }
  const ageMs = isNew ? 0 : ageOf(redeem, at);
  if (forwardState === 'FAILED' || ageMs > FORWARDED_WITHIN_MS) return renew(deps, redeem, attested.nonce, at);
  return nextLookMs(true, ageMs);
}

/** The checked message is kept: with it anyone can mint, should the bridge ever forget it. */
async function storeAttested(
  { db }: BridgingDeps,
  { id, status, facts }: BridgedRedeem,
  { nonce, message, attestation, feeExecuted }: Attested,
  at: Date,
): Promise<boolean> {
  return db.tx(async (tx) => {
    const to = status === 'BRIDGING' ? 'ATTESTED' : status;
    const moved = await tx.run(sql`
      update gift_redeems set status = ${to} where id = ${id} and status = ${status} and ${stillLate(facts.late)}`);
    if (moved !== 1) return false;
    await addFacts(tx, id, { nonce, message, attestation, feeExecuted: String(feeExecuted), since: at.toISOString() });
    return true;
  });
}

const stillLate = (late = false) => sql`coalesce((bridge ->> 'late')::boolean, false) = ${late}`;

/**
 * The mint was tried and failed, or was not tried for long: the attestation may have expired, and is renewed. Each renewal is counted
 * before it is asked for.
 */
async function renew(deps: BridgingDeps, redeem: BridgedRedeem, nonce: string, at: Date): Promise<NextLook> {
  const done = redeem.facts.renewals ?? 0;
  const pauseMs = RENEWAL_PAUSES_MS[done];
  if (pauseMs === undefined) return stop(deps, redeem, 'The bridge attested the burn and did not mint.');
  const counted = await deps.db.tx(async (tx) => {
    const now = await lockBridged(tx, sql`id = ${redeem.id}`);
    if (!now || (now.facts.renewals ?? 0) !== done) return false;
    await addFacts(tx, redeem.id, { renewals: done + 1, since: at.toISOString() });
    return true;
  });
  if (counted) {
    deps.log.warn({ redeemId: redeem.id, renewals: done + 1 }, 'an attestation is renewed');
    await deps.bridge.reattest(redeem.environment, nonce);
  }
  return pauseMs;
}

/** Fails it with its share spent. One that had failed before the burn stays as it is; only looking at it ends. */
async function stop({ db, log }: BridgingDeps, redeem: BridgedRedeem, reason: string): Promise<undefined> {
  const { id, transactionHash } = redeem;
  await db.tx(async (tx) => {
    const now = await lockBridged(tx, sql`id = ${id}`);
    if (!now || !isFollowed(now)) return;
    if (now.status === 'FAILED') await haltLate(tx, id, reason);
    else await endRedeems(tx, [{ id, end: 'FAILED', reason, burned: true }], log);
  });
  log.error({ redeemId: id, burn: transactionHash, reason }, 'a redeem is burned and does not arrive on Solana');
  return undefined;
}

async function haltLate(tx: Db, id: string, reason: string): Promise<void> {
  await addFacts(tx, id, { late: false });
  await tx.run(sql`update gift_redeems set reason = ${reason} where id = ${id}`);
}

/** Whether the bridge is to be asked about it. */
export function isFollowed({ status, facts }: Pick<BridgedRedeem, 'status' | 'facts'>): boolean {
  const isBurned = typeof facts.burnedAt === 'string';
  return isBurned && (status === 'BRIDGING' || status === 'ATTESTED' || (status === 'FAILED' && facts.late === true));
}

function ageOf({ facts, updatedAt }: BridgedRedeem, at: Date): number {
  const since = facts.since === undefined ? updatedAt : new Date(facts.since);
  return Math.max(0, at.getTime() - since.getTime());
}

/** About what a mint takes on Solana. */
const FIRST_LOOK_MS = 2_000;
/** Fast ones take seconds; standard ones hours, and nobody waits in front of a page. */
const SLOWEST_MS = { fast: 15_000, standard: 180_000 };
/** The longer it takes already, the less a few seconds matter. */
const SHARE_OF_AGE = 4;

const HOUR_MS = 3_600_000;
/** Circle says 20 seconds and 8 hours. Beyond these somebody has to look. */
const ATTESTED_WITHIN_MS = { fast: HOUR_MS, standard: 24 * HOUR_MS };
/** Forwarding takes seconds; an attestation that was not used for so long may have expired. */
export const FORWARDED_WITHIN_MS = HOUR_MS;
/** While nothing is burned the redeem can still be given back, and somebody waits for its place. */
export const BURNED_WITHIN_MS = HOUR_MS;
/** After each renewal of an attestation, how long the bridge gets before it is looked at again; so many renewals there are. */
export const RENEWAL_PAUSES_MS: readonly number[] = [5_000, 30_000, 180_000, 900_000, HOUR_MS];

/** When to look again at something that has been waited for so long. */
export function nextLookMs(fast: boolean, ageMs: number): number {
  const slowest = fast ? SLOWEST_MS.fast : SLOWEST_MS.standard;
  return Math.min(Math.max(ageMs / SHARE_OF_AGE, FIRST_LOOK_MS), slowest);
}

export const attestedWithinMs = (fast: boolean): number =>
  fast ? ATTESTED_WITHIN_MS.fast : ATTESTED_WITHIN_MS.standard;

export interface BurnOutcomeDeps {
  /** USDC on Starknet. */
  readonly usdc: (environment: Environment) => bigint;
  readonly log: JobLog;
}

/**
 * What the end of a burn's transaction means for its redeem. It can come again, also with another result, after a reorganisation. A
 * redeem has one burn for ever, so nothing here can burn twice.
 */
export function burnOutcomes(deps: BurnOutcomeDeps): Pick<OutcomeHandlers, 'burn'> {
  return {
    burn: async (tx, outcome) => {
      const redeem = await lockBridged(tx, sql`relay_id = ${outcome.relayId}`);
      if (!redeem) return;
      const reason = reasonNotBurned(deps, redeem, outcome);
      if (reason === undefined) await burned(tx, redeem, outcome, deps.log);
      else await notBurned(tx, redeem, { relayId: outcome.relayId, reason }, deps.log);
    },
  };
}

/** A transaction's own status is no proof that something was taken; the token's event is. */
function reasonNotBurned({ usdc }: BurnOutcomeDeps, redeem: BridgedRedeem, outcome: RelayOutcome): string | undefined {
  const { result, receipt, account, revertReason, environment } = outcome;
  if (result === 'VOIDED') return 'The burn was never executed.';
  if (result === 'REVERTED') return `The burn was reverted: ${revertReason ?? 'for no reason told'}`;
  const amount = redeem.amount + BigInt(redeem.facts.maxFee ?? 0);
  const token = usdc(environment);
  const taken = (receipt ? transfersIn(receipt) : []).some(
    (transfer) => transfer.token === token && transfer.from === account && transfer.amount === amount,
  );
  // What was burned is minted, whatever a receipt leaves out: the burn stays open, and its receipt is read again.
  if (!taken) throw new Error(`The receipt of the burn of ${redeem.id} lacks its transfer.`);
  return undefined;
}

async function burned(tx: Db, redeem: BridgedRedeem, outcome: RelayOutcome, log: JobLog): Promise<void> {
  const { id, status, facts } = redeem;
  const burnedAt = (outcome.confirmedAt ?? new Date()).toISOString();
  // The fee may have been raised on the way, and then the hash is another one.
  const hash = outcome.hash === undefined ? null : toHex(outcome.hash);
  await tx.run(sql`update gift_redeems set transaction_hash = coalesce(${hash}, transaction_hash) where id = ${id}`);
  const isLate = status === 'FAILED' && typeof facts.burnedAt !== 'string';
  if (isLate) {
    await reinstateRelay(tx, outcome.relayId);
    log.error({ redeemId: id, burn: hash }, 'a redeem was burned after it had been given back; it goes on');
  }
  const row = await tx.one<{ now: Date }>(sql`select now() as now`);
  const since = facts.since ?? (row?.now ?? new Date()).toISOString();
  await addFacts(tx, id, { burnedAt, since, ...(isLate && { late: true }) });
  if (status !== 'SUCCESS') await enqueue(tx, bridgeJob(id));
}

/** Nothing was burned, so the share goes back. What is attested already is minted whatever becomes of the burn. */
async function notBurned(
  tx: Db,
  redeem: BridgedRedeem,
  { relayId, reason }: { readonly relayId: string; readonly reason: string },
  log: JobLog,
): Promise<void> {
  const { id, status, spent, facts } = redeem;
  if (status === 'BRIDGING' && !spent) {
    await failRedeem(tx, id, reason);
    // Should a reorganisation open it again, nobody wants it burned any more.
    await abandonRelay(tx, relayId);
    await tx.run(sql`update gift_redeems set transaction_hash = null where id = ${id}`);
    await addFacts(tx, id, { burnedAt: null });
    log.warn({ redeemId: id, reason }, 'the burn of a redeem did not happen; it was given back');
    return;
  }
  if (status === 'FAILED' && facts.late) await addFacts(tx, id, { burnedAt: null, late: false });
  log.error({ redeemId: id, status, reason }, 'the burn of a redeem was taken off the chain');
}

export interface BridgingDeps {
  readonly db: Database;
  readonly bridge: Bridge;
  readonly payer: Payer;
  readonly log: JobLog;
  readonly now?: () => number;
}

/** As many as are enqueued at once; what remains is for the next run. */
const MAX_AT_ONCE = 1_000;

/** Has redeems looked at that nobody looks at any more: a job that was set aside would leave its redeem on the way for ever. */
export async function sweepBridged(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const redeems = await tx.rows<{ id: string }>(sql`
      select id from gift_redeems
       where destination_chain = 'solana' and status in ('PENDING', 'BRIDGING', 'ATTESTED')
         and (relay_id is null or bridge ->> 'burnedAt' is not null)
         and not exists (
           select from jobs where task = ${BRIDGE_TASK} and key = gift_redeems.id and failed_at is null)
       order by id limit ${MAX_AT_ONCE}`);
    await enqueueMany(
      tx,
      redeems.map(({ id }) => bridgeJob(id)),
    );
  });
}
