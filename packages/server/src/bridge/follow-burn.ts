import { ApiError, type Environment, type ErrorCode, type ReceiveProof } from '@svc/protocol';
import type { JobLog } from '../jobs/job.ts';
import type { Attested, Bridge, Burn } from './bridge.ts';

/** What is kept of a burn and its way. Times are ISO 8601. */
export interface BurnFacts {
  /** Null where a reorganisation removed the burn. */
  readonly burnedAt?: string | null;
  readonly since?: string;
  readonly attestedAt?: string;
  readonly nonce?: string;
  readonly message?: string;
  readonly attestation?: string;
  readonly feeExecuted?: string;
  readonly renewals?: number;
  /** Who says that the amount arrived. */
  readonly receiveProof?: ReceiveProof;
}

export interface Arrival {
  readonly receiveHash: string;
  readonly receiveProof: ReceiveProof;
}

/** A burn that awaits its mint, and how its owner stores what happens. Every step may be repeated after a crash. */
export interface FollowedBurn {
  readonly environment: Environment;
  readonly burn: Burn;
  /** At least so much must be credited on Solana. */
  readonly arrives: bigint;
  readonly facts: BurnFacts;
  readonly updatedAt: Date;
  /** Of the log. */
  readonly about: object;
  /** False where another process moved it meanwhile. */
  storeAttested(facts: BurnFacts): Promise<boolean>;
  /** False where it has been counted already. */
  countRenewal(done: number, facts: BurnFacts): Promise<boolean>;
  arrived(arrival: Arrival): Promise<void>;
  /** It goes on only when an operator says so. */
  stop(reason: string): Promise<void>;
}

export interface FollowDeps {
  readonly bridge: Bridge;
  readonly log: JobLog;
}

/** Undefined: there is no next step. */
export type NextStepMs = number | undefined;

/** Answers when to look again. Throws what `isPostponed` knows while the bridge or Solana does not answer. */
export async function followBurn(deps: FollowDeps, followed: FollowedBurn, at: Date): Promise<NextStepMs> {
  const { fast } = followed.burn.order;
  const progress = await deps.bridge.progress(followed.environment, followed.burn);
  if (progress.state === 'ATTESTED') return awaitForwarding(deps, followed, progress, at);
  if (progress.state === 'WRONG') return stop(followed, progress.reason);
  const ageMs = ageOf(followed, at);
  if (ageMs <= attestationTimeoutMs(fast)) return pollDelayMs(fast, ageMs);
  const missing = progress.state === 'PENDING' ? 'attest it' : 'see the burn';
  return stop(followed, `The bridge did not ${missing} in time.`);
}

async function awaitForwarding(
  deps: FollowDeps,
  followed: FollowedBurn,
  attested: Attested,
  at: Date,
): Promise<NextStepMs> {
  const isNew = followed.facts.message === undefined;
  if (isNew && !(await followed.storeAttested(factsOf(attested, at)))) return undefined;
  const { forwardState, receiveHash } = attested;
  const ageMs = isNew ? 0 : ageOf(followed, at);
  if (forwardState === 'COMPLETE' && receiveHash !== undefined) {
    return awaitCredit(deps, followed, { nonce: attested.nonce, receiveHash }, ageMs);
  }
  if (forwardState === 'FAILED' || ageMs > FORWARD_TIMEOUT_MS) return reattest(deps, followed, attested.nonce, at);
  return pollDelayMs(true, ageMs);
}

/** With the message and its attestation anyone can mint, without the bridge's service. */
function factsOf({ nonce, message, attestation, feeExecuted }: Attested, at: Date): BurnFacts {
  const attestedAt = at.toISOString();
  return { nonce, message, attestation, feeExecuted: String(feeExecuted), attestedAt, since: attestedAt };
}

/**
 * It arrived once Solana shows the credit. While no node answers it waits without an end; where the nodes contradict the bridge,
 * the operator looks at it after a while. Either way the burn stays the only one.
 */
async function awaitCredit(
  { bridge, log }: FollowDeps,
  followed: FollowedBurn,
  { nonce, receiveHash }: { readonly nonce: string; readonly receiveHash: string },
  ageMs: number,
): Promise<NextStepMs> {
  const { environment, arrives: amount, burn, about } = followed;
  const mint = { signature: receiveHash, nonce, owner: burn.order.owner, amount };
  const check = await bridge.checkMint(environment, mint);
  if (!check || check.credited) {
    await followed.arrived({ receiveHash, receiveProof: check ? 'CHAIN' : 'BRIDGE' });
    return undefined;
  }
  const { reason } = check;
  log.warn({ ...about, mint: receiveHash, reason }, 'reported mint not found on Solana');
  if (ageMs <= CREDIT_TIMEOUT_MS) return pollDelayMs(true, ageMs);
  return stop(followed, `The bridge says that ${receiveHash} minted it, but ${reason}.`);
}

/** A fast attestation expires: it is renewed, a bounded number of times. */
async function reattest(
  { bridge, log }: FollowDeps,
  followed: FollowedBurn,
  nonce: string,
  at: Date,
): Promise<NextStepMs> {
  const done = followed.facts.renewals ?? 0;
  const delayMs = REATTEST_DELAYS_MS[done];
  if (delayMs === undefined) return stop(followed, 'The bridge attested the burn and did not mint.');
  if (await followed.countRenewal(done, { renewals: done + 1, since: at.toISOString() })) {
    log.warn({ ...followed.about, renewals: done + 1 }, 'attestation renewal requested');
    await bridge.reattest(followed.environment, nonce);
  }
  return delayMs;
}

async function stop(followed: FollowedBurn, reason: string): Promise<undefined> {
  await followed.stop(reason);
}

function ageOf({ facts, updatedAt }: FollowedBurn, at: Date): number {
  const since = facts.since === undefined ? updatedAt : new Date(facts.since);
  return Math.max(0, at.getTime() - since.getTime());
}

/** As Circle documents them. */
const ESTIMATED_SECONDS = { fast: 24, standard: 28_800 };

export const estimatedSeconds = (fast: boolean): number => (fast ? ESTIMATED_SECONDS.fast : ESTIMATED_SECONDS.standard);

const POSTPONED: ReadonlySet<ErrorCode> = new Set(['chain_unavailable', 'chain_not_configured', 'fee_too_high']);

export const isPostponed = (error: unknown): boolean => error instanceof ApiError && POSTPONED.has(error.code);

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
