import type { Database } from '@svc/store';
import { type JobHandlers, type JobLog, reasonOf } from './job.ts';
import { pauseUnless } from './pause-unless.ts';
import { completeJob, failJob, type TakenJob } from './store.ts';

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
  giveUp(): void;
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
    giveUp() {
      givenUp.abort();
      interrupt(new Error('The process stops.'));
    },
    async drain(ms) {
      const enough = new AbortController();
      const ends = [...running.values()].map(({ ended }) => ended);
      await Promise.race([Promise.all(ends), pauseUnless(enough.signal, ms)]);
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
    return reasonOf(error);
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
      onError(reasonOf(error));
    }
    await pauseUnless(givenUp, SETTLE_RETRY_MS);
  }
  return undefined;
}
