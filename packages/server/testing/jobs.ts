import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { type Database, sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { onTestFinished } from 'vitest';
import { serverMigrations } from '../src/database.ts';
import type { JobContext, JobLog } from '../src/jobs/job.ts';
import type { Timing } from '../src/jobs/presence.ts';
import { startWorkers, type Workers, type WorkersOptions } from '../src/jobs/workers.ts';

/** Shorter than in service; lost before taken over, as there. */
export const QUICK: Timing = { pollMs: 50, lostAfterMs: 300, recoverAfterMs: 900 };

export const BOUND = { timeout: 60_000, interval: 10 };

export const silent: JobLog = { info() {}, warn() {}, error() {} };

/** What a handler is told that a test calls itself. */
export function contextOfJob(own: Partial<JobContext> = {}): JobContext {
  const { signal } = new AbortController();
  return { attempt: 1, maxAttempts: 1, jobId: '1', signal, stopping: signal, ...own };
}

export interface Queue {
  readonly db: Database;
  readonly url: string;
}

/** A database with a table for the traces of handlers. */
export async function createQueue(): Promise<Queue> {
  const database = await TestDatabase.create([serverMigrations]);
  const { db, url } = database;
  onTestFinished(() => database.drop());
  await db.run(sql`create table traces (n integer not null, pid integer not null)`);
  return { db, url };
}

/** Workers in this process, stopped before the database is dropped. */
export async function start(queue: Queue, options: Partial<WorkersOptions>): Promise<Workers> {
  const base = { url: queue.url, handlers: {}, concurrency: 4, log: silent, timing: QUICK, graceMs: 5_000 };
  const workers = await startWorkers({ ...base, ...options });
  onTestFinished(() => workers.stop());
  return workers;
}

export async function startProcess(queue: Queue, ...settings: string[]): Promise<ChildProcess> {
  const child = fork(path.join(import.meta.dirname, 'worker-process.ts'), [queue.url, ...settings]);
  onTestFinished(() => kill(child));
  const [first] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (first !== 'ready') throw new Error(`The worker process ended with ${first}.`);
  return child;
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

export async function countOf(queue: Queue, query: ReturnType<typeof sql>): Promise<number> {
  return (
    (await queue.db.one<{ count: number }>(sql`select count(*)::integer as count from (${query}) as counted`))?.count ??
    -1
  );
}
