import { ApiError, type Environment } from '@svc/protocol';
import { type Call, selector } from '@svc/starknet';
import { newId } from '../../ids.ts';
import type { PayAnswer } from '../../relayer/payer.ts';
import { padded } from '../../relayer/spelling.ts';
import { endRedeems } from '../end-redeem.ts';
import { type PayoutParts, usdcOf } from './parts.ts';
import { type Due, postpone, putIntoPayout, sumUnderWay, waitingRedeems } from './store.ts';

/** A transfer is seven felts of calldata, so this many stay far below what a sequencer takes, in calldata as in gas. */
export const MAX_IN_PAYOUT = 60;
/** What counts as paid and cannot be paid again is for the operator to look at, not to be tried all the time. */
const OWED_AGAIN_SECONDS = 3_600;

/** `POOR`: more waits than the manager can pay. */
export type PaidOut = 'DONE' | 'POOR';

/**
 * Pays everything that waits, many at once. What arrives while one payout is estimated, stored and sent goes into the next.
 * Throws where the chain cannot be asked; nothing is changed then, and it can be begun again.
 */
export async function payOut(parts: PayoutParts, environment: Environment, signal?: AbortSignal): Promise<PaidOut> {
  while (!signal?.aborted) {
    const waiting = await waitingRedeems(parts.db, environment, MAX_IN_PAYOUT);
    if (waiting.length === 0) return 'DONE';
    const payable = await affordable(parts, environment, waiting);
    for (const batch of gathered(payable)) await payBatch(parts, environment, batch);
    if (payable.length < waiting.length) return 'POOR';
  }
  return 'DONE';
}

/** As many as the manager can pay, in their order, whatever of the payouts under way the chain has executed. */
async function affordable(parts: PayoutParts, environment: Environment, waiting: readonly Due[]): Promise<Due[]> {
  const { db, networks, payer, log } = parts;
  const { chain } = networks.starknet(environment);
  const manager = payer.manager(environment);
  const underWay = await sumUnderWay(db, chain.chainId, padded(manager));
  // After what is under way was read: what ends in between counts twice, never not at all.
  const balance = await chain.balanceOf(usdcOf(networks, environment), manager, 'pre_confirmed');
  let left = balance - underWay;
  const payable = waiting.filter(({ amount }) => {
    if (left < amount) return false;
    left -= amount;
    return true;
  });
  if (payable.length < waiting.length) {
    const about = { environment, balanceUsdc: String(balance), underWay: String(underWay), waiting: waiting.length };
    log.error(about, 'the manager lacks USDC to pay what waits');
  }
  return payable;
}

function gathered(redeems: readonly Due[]): Due[][] {
  const together = redeems.filter(({ alone }) => !alone);
  const singles = redeems.filter(({ alone }) => alone).map((redeem) => [redeem]);
  return together.length > 0 ? [together, ...singles] : singles;
}

/** One that would revert is found by halving, so it harms nobody else. */
async function payBatch(parts: PayoutParts, environment: Environment, batch: readonly Due[]): Promise<void> {
  const [first, ...others] = batch;
  if (!first) return;
  const answer = await payTogether(parts, environment, first, batch).catch((error: unknown) => {
    // Many may cost more than one transaction may, where each does not.
    if (others.length > 0 && error instanceof ApiError && error.code === 'fee_too_high') return undefined;
    throw error;
  });
  if (answer?.ok) return;
  if (answer && others.length === 0) return refuse(parts, first, answer.reason);
  const half = Math.ceil(batch.length / 2);
  await payBatch(parts, environment, batch.slice(0, half));
  await payBatch(parts, environment, batch.slice(half));
}

function payTogether(
  { networks, payer }: PayoutParts,
  environment: Environment,
  first: Due,
  batch: readonly Due[],
): Promise<PayAnswer> {
  const usdc = usdcOf(networks, environment);
  const calls = batch.map((redeem) => transferOf(usdc, redeem));
  // The rows decide what may be paid; the name only has to be new.
  const purpose = `payout ${first.id} ${newId('pay')}`;
  const order = { environment, kind: 'payout', purpose, calls } as const;
  return payer.pay(order, (tx, relay) => putIntoPayout(tx, batch, relay));
}

function transferOf(usdc: bigint, { address, amount }: Due): Call {
  return { to: usdc, selector: selector('transfer'), calldata: [BigInt(address), amount, 0n] };
}

/** Nothing was sent, so there is nothing to wait for. */
async function refuse({ db, log }: PayoutParts, { id, status }: Due, reason: string): Promise<void> {
  if (status === 'SUCCESS') {
    log.error({ redeemId: id, reason }, 'a redeem whose payment was reorganised away cannot be paid again');
    return postpone(db, id, OWED_AGAIN_SECONDS);
  }
  log.warn({ redeemId: id, reason }, 'a payout would revert');
  await db.tx((tx) => endRedeems(tx, [{ id, end: 'FAILED', reason }]));
}
