import type { Environment } from '@svc/protocol';
import type { NewJob } from '../jobs/job.ts';

export const BRIDGE_TASK = 'bridge-redeem';

export const payoutTask = (environment: Environment): string => `payout-${environment}`;

/** Pays out what waits in an environment: one waits at most, and one runs at a time. */
export function payoutJob(environment: Environment): NewJob {
  const task = payoutTask(environment);
  return { task, payload: { environment }, key: environment, queue: task };
}

/** Takes a redeem on its way to Solana a step further. */
export function bridgeJob(redeemId: string): NewJob {
  return { task: BRIDGE_TASK, payload: { redeemId }, key: redeemId };
}
