import { connect, type Database } from '@svc/store';
import { createDoorbell, type Doorbell } from './doorbell.ts';
import { type JobHandlers, type JobLog, reasonOf } from './job.ts';
import { plannedEachTime } from './planned-each-time.ts';
import { becomePresent, type Presence } from './presence.ts';
import { enqueueRecurring, type RecurringJob } from './recurring.ts';
import { createRunner, type Runner } from './runner.ts';
import { handBackJobs, takeJobs } from './store.ts';
import { createTakeOver } from './take-over.ts';
import { DEFAULT_TIMING, type Timing } from './timing.ts';

const WORKERS_APPLICATION = 'svc jobs';

// Taking and storing jobs are single short statements; handlers have the service's own pool.
const POOL_SIZE = 4;
const DEFAULT_GRACE_MS = 10_000;
// For handlers to notice that they are interrupted.
const INTERRUPTION_MS = 1_000;
// Longer than any answer of the database is waited for: what was taken before and is not here got lost on its way.
const STRAY_AFTER_MS = 40_000;

export interface WorkersOptions {
  /** Of the database itself: behind a pooler that shares sessions, locks and notifications do not work. */
  readonly url: string;
  readonly handlers: JobHandlers;
  /** How many jobs this process runs at the same time. */
  readonly concurrency: number;
  readonly log: JobLog;
  readonly recurring?: readonly RecurringJob[];
  /** How many connections take and store jobs. */
  readonly poolSize?: number;
  /** How long `stop` waits for the running jobs before it interrupts them. */
  readonly graceMs?: number;
  readonly timing?: Timing;
}

export interface Workers {
  /** Takes no more jobs, lets the running ones finish, and hands back those that do not in time. */
  stop(): Promise<void>;
}

/** Runs jobs until it is stopped. Any number of processes may do so against one database. */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { url, handlers, log, graceMs = DEFAULT_GRACE_MS, timing = DEFAULT_TIMING } = options;
  const bell = createDoorbell();
  const onLost = () => {
    log.error({ worker }, 'the other workers cannot see this one; it interrupts its jobs');
    runner.interrupt(new Error('The connection of the worker is lost, and others may take over its jobs.'));
  };
  const presence = await becomePresent({ url, timing, log, onWake: bell.ring, onLost });
  const { worker } = presence;
  const db = connect(plannedEachTime(url), {
    max: options.poolSize ?? POOL_SIZE,
    applicationName: WORKERS_APPLICATION,
  });
  const runner = createRunner({ db, worker, handlers, log, onFree: bell.ring });
  const stopping = new AbortController();
  const working = work({ ...options, timing, db, presence, runner, bell, stopping: stopping.signal });

  const stop = async () => {
    stopping.abort();
    bell.ring();
    await working;
    if (!(await runner.drain(graceMs))) {
      runner.giveUp();
      await runner.drain(INTERRUPTION_MS);
    }
    // Where this fails, the others take the jobs over once the lock is gone.
    await handBackJobs(db, worker, { except: [], heldForMs: 0 }).catch(() => {});
    await presence.close();
    await db.close();
  };
  let stopped: Promise<void> | undefined;
  return {
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

interface Work extends WorkersOptions {
  readonly timing: Timing;
  readonly db: Database;
  readonly presence: Presence;
  readonly runner: Runner;
  readonly bell: Doorbell;
  readonly stopping: AbortSignal;
}

/** Takes jobs whenever there are some and a place is free, and looks after the queue from time to time. */
async function work({ db, presence, runner, bell, stopping, timing, log, ...options }: Work): Promise<void> {
  const { worker } = presence;
  const tasks = Object.keys(options.handlers);
  const takeOver = createTakeOver({ db, worker, takeOverAfterMs: timing.takeOverAfterMs, log });

  const look = async () => {
    await enqueueRecurring(db, options.recurring ?? []);
    await takeOver();
    await handBackJobs(db, worker, { except: runner.jobs(), heldForMs: STRAY_AFTER_MS });
  };
  const fill = async () => {
    for (;;) {
      const free = options.concurrency - runner.jobs().length;
      if (stopping.aborted || !presence.seen || free <= 0) return;
      const jobs = await takeJobs(db, worker, tasks, free);
      for (const job of jobs) runner.start(job);
      // Of a queue only one job was taken, and what waits behind its others has not been looked at.
      if (jobs.length < free && jobs.every((job) => job.queue === null)) return;
    }
  };
  const trying = (step: () => Promise<void>) =>
    step().catch((error: unknown) => log.error({ worker, reason: reasonOf(error) }, 'the queue did not answer'));
  let lookedAt = Number.NEGATIVE_INFINITY;
  while (!stopping.aborted) {
    if (presence.seen && performance.now() - lookedAt >= timing.lookMs) {
      lookedAt = performance.now();
      await trying(look);
    }
    await trying(fill);
    await bell.wait(timing.lookMs);
  }
}
