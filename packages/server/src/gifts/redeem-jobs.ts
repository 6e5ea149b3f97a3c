import type { Environment } from '@svc/protocol';
import type { NewJob } from '../jobs/job.ts';

export const BRIDGE_TASK = 'bridge-redeem';

export const payoutTask = (environment: Environment): string => `payout-${environment}`;

/** A reservation keeps its job's row until its commit: with one row, all reservations of an environment would wait for one another. */
const LANES = 8;

/** Pays out what waits in an environment. Of several that wait one runs at a time, and the first pays for all of them. */
export function payoutJob(environment: Environment, redeemId = ''): NewJob {
  const task = payoutTask(environment);
  return { task, payload: { environment }, key: `${environment} ${laneOf(redeemId)}`, queue: task };
}

/** The end of an id is random. */
const laneOf = (id: string): number => (id.codePointAt(id.length - 1) ?? 0) % LANES;

/** Takes a redeem on its way to Solana a step further. */
export function bridgeJob(redeemId: string): NewJob {
  return { task: BRIDGE_TASK, payload: { redeemId }, key: redeemId };
}
