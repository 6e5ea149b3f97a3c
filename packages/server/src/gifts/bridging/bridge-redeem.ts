import { ApiError, type ErrorCode } from '@svc/protocol';
import { enqueue } from '../../jobs/enqueue.ts';
import { reasonOf } from '../../jobs/job.ts';
import { presentTime } from '../../relayer/clock.ts';
import { bridgeJob } from '../redeem-jobs.ts';
import { type BridgedRedeem, findBridged } from './bridged-redeem.ts';
import { burn } from './burn.ts';
import { followBurn, isFollowed, type NextLook } from './follow-burn.ts';
import type { BridgingParts } from './parts.ts';
import { nextLookMs } from './patience.ts';

/**
 * One step of a redeem on its way to Solana: from PENDING it is burned, and the end of that transaction calls again; from then on the
 * bridge is asked until the mint is there. Where it comes twice, or again after a crash, it goes on from what is stored.
 */
export async function bridgeRedeem(parts: BridgingParts, redeemId: string): Promise<void> {
  const redeem = await findBridged(parts.db, redeemId);
  if (!redeem) return;
  const next = await step(parts, redeem);
  if (next === undefined) return;
  await enqueue(parts.db, { ...bridgeJob(redeemId), runAt: new Date(Date.now() + next) });
}

async function step(parts: BridgingParts, redeem: BridgedRedeem): Promise<NextLook> {
  const at = await presentTime(parts.db.reads, parts.now);
  try {
    if (isFollowed(redeem)) return await followBurn(parts, redeem, at);
    if (redeem.status === 'PENDING' && redeem.relayId === null) await burn(parts, redeem, at);
    return undefined;
  } catch (error) {
    if (!isPassing(error)) throw error;
    parts.log.warn({ redeemId: redeem.id, reason: reasonOf(error) }, 'a redeem to Solana has to wait');
    return nextLookMs(redeem.fast, at.getTime() - redeem.updatedAt.getTime());
  }
}

/** A node, the bridge or the operator's configuration is away, or gas is too dear. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['chain_unavailable', 'chain_not_configured', 'fee_too_high']);

const isPassing = (error: unknown): boolean => error instanceof ApiError && PASSING.has(error.code);
