import type { Environment } from '@svc/protocol';
import type { JobHandler, JobHandlers } from '../../jobs/job.ts';
import type { RecurringJob } from '../../jobs/recurring.ts';
import { freeUnpaidRefunds } from './free-unpaid.ts';
import type { RefundParts } from './parts.ts';

const SWEEP_SECONDS = 15;

export interface RefundJobParts extends RefundParts {
  /** Those whose chain this process reaches, and that have a manager. */
  readonly environments: readonly Environment[];
}

export function refundJobs(parts: RefundJobParts): { handlers: JobHandlers; recurring: readonly RecurringJob[] } {
  const taskOf = (environment: Environment) => `sweep-refunds-${environment}`;
  const handlers = parts.environments.map((environment): [string, JobHandler<never>] => [
    taskOf(environment),
    async () => void (await freeUnpaidRefunds(parts, environment)),
  ]);
  return {
    handlers: Object.fromEntries(handlers),
    recurring: parts.environments.map((each) => ({ task: taskOf(each), everySeconds: SWEEP_SECONDS })),
  };
}
