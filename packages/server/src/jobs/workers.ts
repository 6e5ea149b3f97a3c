import { connect, type Database } from '@svc/store';
import { errorText } from '../util/text.ts';
import { createWakeup, sleep, type Wakeup } from '../util/wakeup.ts';
import { enqueueRecurring, type JobHandlers, type JobLog, type RecurringJob } from './job.ts';
import { completeJob, failJob, handBackJobs, type TakenJob, takeJobs } from './job-store.ts';
import { announceWorker, createRecovery, DEFAULT_TIMING, type Presence, type Timing } from './presence.ts';

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
  const bell = createWakeup();
  const onLost = () => {
    log.error({ worker }, 'the other workers cannot see this one; it interrupts its jobs');
    runner.interrupt(new Error('The connection of the worker is lost, and others may take over its jobs.'));
  };
  const presence = await announceWorker({ url, timing, log, onWake: bell.ring, onLost });
  const { worker } = presence;
  const db = connect(withoutPlanCache(url), {
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
      runner.abandon();
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
  readonly bell: Wakeup;
  readonly stopping: AbortSignal;
}

/** Takes jobs whenever there are some and a place is free, and looks after the queue from time to time. */
async function work({ db, presence, runner, bell, stopping, timing, log, ...options }: Work): Promise<void> {
  const { worker } = presence;
  const tasks = Object.keys(options.handlers);
  const takeOver = createRecovery({ db, worker, takeOverAfterMs: timing.takeOverAfterMs, log });

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
    step().catch((error: unknown) => log.error({ worker, reason: errorText(error) }, 'the queue did not answer'));
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

// Handlers wait for networks with timeouts of their own; this ends what waits for ever.
const MAX_JOB_MS = 600_000;
const SETTLE_RETRY_MS = 500;

interface RunnerOptions {
  readonly db: Database;
  readonly worker: number;
  readonly handlers: JobHandlers;
  readonly log: JobLog;
  /** A job ended, and its place is free. */
  onFree(): void;
}

export interface Runner {
  start(job: TakenJob): void;
  /** The jobs in its hands, until what became of them is stored. */
  jobs(): bigint[];
  /** Aborts the signals of the running jobs; how they end then counts as ever. */
  interrupt(reason: Error): void;
  /** Interrupts, and leaves alone what the jobs do from now on. */
  abandon(): void;
  /** False when the time was over before the last job ended. */
  drain(ms: number): Promise<boolean>;
}

/** Runs the handlers of jobs that were taken, and stores what became of them. */
export function createRunner({ db, worker, handlers, log, onFree }: RunnerOptions): Runner {
  const running = new Map<TakenJob, { ended: Promise<void>; interruption: AbortController }>();
  const givenUp = new AbortController();

  const run = async (job: TakenJob, signal: AbortSignal) => {
    const about = { task: job.task, jobId: String(job.id), attempt: job.attempt };
    const failure = await attempt(handlers, job, signal);
    if (failure !== undefined && givenUp.signal.aborted) return;
    if (failure !== undefined) log.warn({ ...about, reason: failure }, 'job failed');
    const write = () => (failure === undefined ? completeJob(db, worker, job) : failJob(db, worker, job, failure));
    const stored = await insist(write, givenUp.signal, (reason) =>
      log.warn({ ...about, reason }, 'job not stored yet'),
    );
    if (stored === false) log.warn(about, 'job ended after another worker had taken it over');
  };
  const interrupt = (reason: Error) => {
    for (const { interruption } of running.values()) interruption.abort(reason);
  };
  return {
    start(job) {
      const interruption = new AbortController();
      const timer = setTimeout(() => interruption.abort(new Error('The job took too long.')), MAX_JOB_MS);
      const ended = run(job, interruption.signal).finally(() => {
        clearTimeout(timer);
        running.delete(job);
        onFree();
      });
      running.set(job, { ended, interruption });
    },
    jobs: () => [...running.keys()].map((job) => job.id),
    interrupt,
    abandon() {
      givenUp.abort();
      interrupt(new Error('The process stops.'));
    },
    async drain(ms) {
      const enough = new AbortController();
      const ends = [...running.values()].map(({ ended }) => ended);
      await Promise.race([Promise.all(ends), sleep(enough.signal, ms)]);
      enough.abort();
      return running.size === 0;
    },
  };
}

/** The reason of the failure, or undefined. */
async function attempt(handlers: JobHandlers, job: TakenJob, signal: AbortSignal): Promise<string | undefined> {
  try {
    const handler = handlers[job.task];
    if (!handler) throw new Error(`There is no handler for ${job.task}.`);
    const { attempt, maxAttempts } = job;
    await handler(job.payload as never, { attempt, maxAttempts, jobId: String(job.id), signal });
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

// A job whose end is not stored counts as running for as long as this process lives, so a database that is away is waited for.
async function insist<T>(
  write: () => Promise<T>,
  givenUp: AbortSignal,
  onError: (reason: string) => void,
): Promise<T | undefined> {
  while (!givenUp.aborted) {
    try {
      return await write();
    } catch (error) {
      onError(errorText(error));
    }
    await sleep(givenUp, SETTLE_RETRY_MS);
  }
  return undefined;
}

/**
 * The same database for connections that plan every statement anew. A plan that was made and kept while the queue was
 * empty reads the whole table when it is full: 30 times slower with 3,000 jobs.
 */
export function withoutPlanCache(url: string): string {
  const planned = new URL(url);
  const options = planned.searchParams.get('options') ?? '';
  planned.searchParams.set('options', `${options} -c plan_cache_mode=force_custom_plan`.trim());
  return planned.href;
}
