import { type Db, sql } from '@svc/store';
import type { Attested } from '../../bridge/bridge.ts';
import { endRedeems, succeedRedeem } from '../end-redeem.ts';
import { addFacts, type BridgedRedeem, burnOf, lockBridged } from './bridged-redeem.ts';
import type { BridgingParts } from './parts.ts';
import { attestedWithinMs, FORWARDED_WITHIN_MS, nextLookMs, RENEWAL_PAUSES_MS } from './patience.ts';

/** In how many milliseconds to look again; undefined when there is nothing left to do. */
export type NextLook = number | undefined;

/**
 * Takes a burned redeem a step further. There is no way back any more: it is minted, or it fails with its share spent and waits for
 * the operator.
 */
export async function followBurn(parts: BridgingParts, redeem: BridgedRedeem, at: Date): Promise<NextLook> {
  const progress = await parts.bridge.progress(redeem.environment, burnOf(redeem));
  if (progress.state === 'ATTESTED') return forward(parts, redeem, progress, at);
  if (progress.state === 'WRONG') return stop(parts, redeem, progress.reason);
  const ageMs = ageOf(redeem, at);
  if (ageMs <= attestedWithinMs(redeem.fast)) return nextLookMs(redeem.fast, ageMs);
  const seen = progress.state === 'PENDING' ? 'attest it' : 'see the burn';
  return stop(parts, redeem, `The bridge did not ${seen} in time.`);
}

async function forward(parts: BridgingParts, redeem: BridgedRedeem, attested: Attested, at: Date): Promise<NextLook> {
  const isNew = redeem.facts.message === undefined;
  if (isNew && !(await storeAttested(parts, redeem, attested, at))) return undefined;
  const { forwardState, receiveHash } = attested;
  if (forwardState === 'COMPLETE' && receiveHash !== undefined) {
    await parts.db.tx((tx) => succeedRedeem(tx, redeem.id, { receiveHash }, parts.log));
    return undefined;
  }
  const ageMs = isNew ? 0 : ageOf(redeem, at);
  if (forwardState === 'FAILED' || ageMs > FORWARDED_WITHIN_MS) return renew(parts, redeem, attested.nonce, at);
  return nextLookMs(true, ageMs);
}

/** The checked message is kept: with it anyone can mint, should the bridge ever forget it. */
async function storeAttested(
  { db }: BridgingParts,
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
async function renew(parts: BridgingParts, redeem: BridgedRedeem, nonce: string, at: Date): Promise<NextLook> {
  const done = redeem.facts.renewals ?? 0;
  const pauseMs = RENEWAL_PAUSES_MS[done];
  if (pauseMs === undefined) return stop(parts, redeem, 'The bridge attested the burn and did not mint.');
  const counted = await parts.db.tx(async (tx) => {
    const now = await lockBridged(tx, sql`id = ${redeem.id}`);
    if (!now || (now.facts.renewals ?? 0) !== done) return false;
    await addFacts(tx, redeem.id, { renewals: done + 1, since: at.toISOString() });
    return true;
  });
  if (counted) {
    parts.log.warn({ redeemId: redeem.id, renewals: done + 1 }, 'an attestation is renewed');
    await parts.bridge.reattest(redeem.environment, nonce);
  }
  return pauseMs;
}

/** Fails it with its share spent. One that had failed before the burn stays as it is; only looking at it ends. */
async function stop({ db, log }: BridgingParts, redeem: BridgedRedeem, reason: string): Promise<undefined> {
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
