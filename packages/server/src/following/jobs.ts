import type { Environment } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { enqueue } from '../jobs/enqueue.ts';
import type { JobHandler, JobHandlers, JobLog } from '../jobs/job.ts';
import type { RecurringJob } from '../jobs/recurring.ts';
import { follow } from './follow.ts';
import { followedChain } from './follower.ts';

export interface FollowingParts {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly log: JobLog;
  readonly now?: () => number;
  /** Those whose chain is followed. */
  readonly environments: readonly Environment[];
}

/** About the time of a block. */
const EVERY_SECONDS = 1;

const recurringTask = (environment: Environment) => `follow-chain ${environment}`;
const stepTask = (environment: Environment) => `follow-chain-step ${environment}`;

/**
 * Follows the chains. A recurring task only asks for a step, because steps that may take longer than a second have to wait for
 * each other: they share a queue, and one waits at most.
 */
export function followingJobs({ environments, db, networks, log, now = Date.now }: FollowingParts): {
  handlers: JobHandlers;
  recurring: RecurringJob[];
} {
  const handlers: Record<string, JobHandler<never>> = {};
  for (const environment of environments) {
    const task = stepTask(environment);
    handlers[recurringTask(environment)] = () => enqueue(db, { task, key: environment, queue: task, payload: {} });
    handlers[task] = (_payload, { signal }) =>
      follow({ ...followedChain(networks, environment), db, log, now }, signal);
  }
  const recurring = environments.map((environment) => ({
    task: recurringTask(environment),
    everySeconds: EVERY_SECONDS,
  }));
  return { handlers, recurring };
}
