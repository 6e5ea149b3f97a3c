import { ApiError, type Environment } from '@svc/protocol';
import { enqueue } from '../../jobs/enqueue.ts';
import { type JobHandler, type JobHandlers, reasonOf } from '../../jobs/job.ts';
import type { RecurringJob } from '../../jobs/recurring.ts';
import { payoutJob, payoutTask } from '../redeem-jobs.ts';
import { freeUnpaid } from './free-unpaid.ts';
import type { PayoutParts } from './parts.ts';
import { payOut } from './pay-out.ts';
import { waitingRedeems } from './store.ts';

/** Somebody waits for the money, and nodes come back within seconds. */
const TRY_AGAIN_MS = 1_000;
/** Money comes when the operator sends it. */
const POOR_AGAIN_MS = 15_000;
const SWEEP_SECONDS = 15;

export interface PayoutJobParts extends PayoutParts {
  /** Those whose chain this process reaches, and that have a manager. */
  readonly environments: readonly Environment[];
}

export function payoutJobs(parts: PayoutJobParts): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const sweepTask = (environment: Environment) => `sweep-payouts-${environment}`;
  const handlers = parts.environments.flatMap((environment): [string, JobHandler<never>][] => [
    [payoutTask(environment), payWaiting(parts, environment)],
    [sweepTask(environment), () => sweep(parts, environment)],
  ]);
  return {
    handlers: Object.fromEntries(handlers),
    recurring: parts.environments.map((each) => ({ task: sweepTask(each), everySeconds: SWEEP_SECONDS })),
  };
}

function payWaiting(parts: PayoutJobParts, environment: Environment): JobHandler<never> {
  const again = (ms: number) => enqueue(parts.db, { ...payoutJob(environment), runAt: new Date(Date.now() + ms) });
  return async (_, { signal }) => {
    try {
      if ((await payOut(parts, environment, signal)) === 'POOR') await again(POOR_AGAIN_MS);
    } catch (error) {
      if (!isPassing(error)) throw error;
      parts.log.warn({ environment, reason: reasonOf(error) }, 'payouts wait for the chain');
      await again(TRY_AGAIN_MS);
    }
  };
}

/** Nothing was stored, and the same may work in a moment. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'chain_unavailable' || error.code === 'fee_too_high');

/** Frees what may be paid anew, and finds what no job looks after any more. */
async function sweep(parts: PayoutJobParts, environment: Environment): Promise<void> {
  await freeUnpaid(parts, environment);
  const [waiting] = await waitingRedeems(parts.db, environment, 1);
  if (waiting) await enqueue(parts.db, payoutJob(environment));
}
