import { connect, type Database, runAs } from '@svc/store';
import { errorText } from '../util/text.ts';
import type { Tracing } from '../util/trace.ts';
import { createWakeup, sleep, type Wakeup } from '../util/wakeup.ts';
import {
  completeJob,
  enqueueRecurring,
  failJob,
  isWokenBy,
  type JobContext,
  type JobHandlers,
  type JobLog,
  type RecurringJob,
  releaseJobs,
  type TakenJob,
  takeJobs,
} from './job.ts';
import {
  announceWorker,
  createRecovery,
  DEFAULT_TIMING,
  findNeglected,
  type Presence,
  type Timing,
} from './presence.ts';

const WORKERS_APPLICATION = 'svc jobs';
const NOT_USED = ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'];
/** Planned once, also for an empty queue, and right for a full one: in order through the indexes, never the whole table. */
export const BY_INDEX = [
  '-c plan_cache_mode=force_generic_plan',
  ...NOT_USED.map((way) => `-c enable_${way}=off`),
].join(' ');

/** Of the workers of a process: what one organisation may use at once. */
const TENANT_SHARE = 0.5;
const POOL_SIZE = 4;
const DEFAULT_GRACE_MS = 10_000;
const INTERRUPTION_MS = 1_000;
// Above every statement timeout: a job taken earlier that does not run here was lost with its answer.
const STRAY_AFTER_MS = 40_000;

export interface WorkersOptions {
  /** Of the database itself: session locks and notifications do not work behind a transaction pooler. */
  readonly url: string;
  readonly handlers: JobHandlers;
  readonly concurrency: number;
  readonly log: JobLog;
  readonly recurring?: readonly RecurringJob[];
  readonly poolSize?: number;
  readonly graceMs?: number;
  readonly timing?: Timing;
  readonly tracing?: Tracing | undefined;
}

export interface Workers {
  /** Takes no more jobs, lets running ones finish, and releases those that do not finish in time. */
  stop(): Promise<void>;
}

export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  const { url, handlers, log, graceMs = DEFAULT_GRACE_MS, timing = DEFAULT_TIMING, tracing } = options;
  const wakeup = createWakeup();
  const onLost = () => {
    log.error({ worker }, 'worker lock lost, interrupting its jobs');
    runner.interrupt(new Error('The worker lost its lock, and others may take over its jobs.'));
  };
  const state: QueueState = { isBehind: true, queues: new Set() };
  const onWake = (payload = '') => {
    if (isWokenBy(payload, handlers, state.queues)) wakeup.notify();
  };
  const presence = await announceWorker({ url, timing, log, onWake, onLost });
  const { worker } = presence;
  const db = connect(url, {
    max: options.poolSize ?? POOL_SIZE,
    applicationName: WORKERS_APPLICATION,
    settings: BY_INDEX,
  });
  const onFree = ({ queue, tenant }: TakenJob) => {
    if (queue !== null) state.queues.delete(queue);
    if (state.isBehind || queue !== null || tenant !== null) wakeup.notify();
  };
  const stopping = new AbortController();
  const runner = createRunner({ db, worker, handlers, log, tracing, stopping: stopping.signal, onFree });
  const working = work({ ...options, timing, db, presence, runner, wakeup, state, stopping: stopping.signal });

  const stop = async () => {
    stopping.abort();
    wakeup.notify();
    await working;
    if (!(await runner.drain(graceMs))) {
      runner.abandon();
      await runner.drain(INTERRUPTION_MS);
    }
    await releaseJobs(db, worker, { except: [], heldForMs: 0 }).catch((error: unknown) => {
      log.warn({ worker, err: error }, 'jobs not released');
    });
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

interface QueueState {
  /** Whether jobs may be due that were not taken. */
  isBehind: boolean;
  /** Of the jobs that run here: the next one of each is looked for when it ends. */
  readonly queues: Set<string>;
}

interface Work extends WorkersOptions {
  readonly timing: Timing;
  readonly db: Database;
  readonly presence: Presence;
  readonly runner: Runner;
  readonly wakeup: Wakeup;
  readonly state: QueueState;
  readonly stopping: AbortSignal;
}

async function work({ db, presence, runner, wakeup, state, stopping, timing, log, ...options }: Work): Promise<void> {
  const { worker } = presence;
  const tasks = Object.keys(options.handlers);
  const recover = createRecovery({ db, recoverAfterMs: timing.recoverAfterMs, log });

  let recurringAt = Number.NEGATIVE_INFINITY;
  const maintain = async () => {
    state.isBehind = true;
    if (performance.now() >= recurringAt) {
      recurringAt = performance.now() + (await enqueueRecurring(db, options.recurring ?? []));
    }
    const unknown = { except: runner.jobs(), heldForMs: STRAY_AFTER_MS };
    const { due, missing, strays } = await findNeglected(db, worker, tasks, unknown);
    const recovered = await recover(missing);
    if (strays) await releaseJobs(db, worker, { except: runner.jobs(), heldForMs: STRAY_AFTER_MS });
    state.isBehind = due || strays || recovered > 0;
  };
  const places = options.concurrency + (options.recurring ?? []).filter(({ isWatching }) => isWatching).length;
  const perTenant = Math.max(1, Math.floor(options.concurrency * TENANT_SHARE));
  const fill = async () => {
    state.isBehind = true;
    for (;;) {
      const free = places - runner.jobs().length;
      if (stopping.aborted || !presence.connected || free <= 0) return;
      const jobs = await takeJobs(db, worker, tasks, free, perTenant);
      for (const job of jobs) {
        if (job.queue !== null) state.queues.add(job.queue);
        runner.start(job);
      }
      // Of a queue one job is taken at a time, of a tenant its share: fewer than were considered.
      if (!jobs.some((job) => job.moreDue)) break;
    }
    state.isBehind = false;
  };
  const attemptStep = (step: () => Promise<void>) =>
    step().catch((error: unknown) => log.error({ worker, err: error }, 'job queue not available'));
  let maintainedAt = Number.NEGATIVE_INFINITY;
  const untilPollMs = () => {
    const leftMs = maintainedAt + timing.pollMs - performance.now();
    return leftMs > 0 ? Math.ceil(leftMs) : timing.pollMs;
  };
  for (let isWoken = true; !stopping.aborted; isWoken = await wakeup.wait(untilPollMs())) {
    if (presence.connected && performance.now() - maintainedAt >= timing.pollMs) {
      maintainedAt = performance.now();
      await attemptStep(maintain);
    }
    if (isWoken || state.isBehind) await attemptStep(fill);
  }
}

// Handlers have network timeouts of their own; this ends a job that hangs.
const MAX_JOB_MS = 600_000;
const STORE_RETRY_MS = 500;

interface RunnerOptions {
  readonly db: Database;
  readonly worker: number;
  readonly handlers: JobHandlers;
  readonly log: JobLog;
  readonly tracing?: Tracing | undefined;
  readonly stopping: AbortSignal;
  onFree(job: TakenJob): void;
}

export interface Runner {
  start(job: TakenJob): void;
  jobs(): bigint[];
  interrupt(reason: Error): void;
  abandon(): void;
  drain(ms: number): Promise<boolean>;
}

export function createRunner(options: RunnerOptions): Runner {
  const { db, worker, handlers, log, tracing, stopping, onFree } = options;
  const running = new Map<TakenJob, { ended: Promise<void>; interruption: AbortController }>();
  const abandoned = new AbortController();

  const run = async (job: TakenJob, signal: AbortSignal) => {
    const about = { task: job.task, jobId: String(job.id), attempt: job.attempt };
    const failure = await attempt(handlers, job, { signal, stopping }, tracing);
    if (failure && abandoned.signal.aborted) return;
    if (failure) log.warn({ ...about, err: failure.error }, 'job failed');
    const write = () => (failure ? failJob(db, worker, job, errorText(failure.error)) : completeJob(db, worker, job));
    const stored = await retryStore(write, abandoned.signal, (error) =>
      log.warn({ ...about, err: error }, 'job result not stored, retrying'),
    );
    if (stored === false) log.warn(about, 'job ended after another worker recovered it');
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
        onFree(job);
      });
      running.set(job, { ended, interruption });
    },
    jobs: () => [...running.keys()].map((job) => job.id),
    interrupt,
    abandon() {
      abandoned.abort();
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

async function attempt(
  handlers: JobHandlers,
  job: TakenJob,
  signals: Pick<JobContext, 'signal' | 'stopping'>,
  tracing: Tracing | undefined,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    const handler = handlers[job.task];
    if (!handler) throw new Error(`There is no handler for ${job.task}.`);
    const { attempt, maxAttempts } = job;
    const run = () => handler(job.payload as never, { attempt, maxAttempts, jobId: String(job.id), ...signals });
    const own = () => (job.tenant === null ? run() : runAs(job.tenant, run));
    await (tracing ? tracing.runJob(job.task, job.traceparent, own) : own());
    return undefined;
  } catch (error) {
    return { error };
  }
}

// A job without a stored result counts as running while this process lives, so storing is retried until it succeeds.
async function retryStore<T>(
  write: () => Promise<T>,
  abandoned: AbortSignal,
  onError: (error: unknown) => void,
): Promise<T | undefined> {
  while (!abandoned.aborted) {
    try {
      return await write();
    } catch (error) {
      onError(error);
    }
    await sleep(abandoned, STORE_RETRY_MS);
  }
  return undefined;
}
