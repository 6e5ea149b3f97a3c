import { type Database, type Db, sql } from '@svc/store';
import type { JobLog } from './job.ts';
import { PRESENCE_LOCK } from './presence-connection.ts';
import { takeOverJobs } from './store.ts';

interface TakeOverOptions {
  readonly db: Database;
  readonly worker: number;
  readonly takeOverAfterMs: number;
  readonly log: JobLog;
  readonly now?: () => number;
}

/**
 * A look for jobs whose worker is dead: its lock is free, and still free some time later. The time between lets a worker
 * that is alive and lost only its connection come back, or interrupt its jobs. Answers how many jobs wait again.
 */
export function createTakeOver(options: TakeOverOptions): () => Promise<number> {
  const { db, worker, takeOverAfterMs, log, now = () => performance.now() } = options;
  let missingSince = new Map<number, number>();
  return async () => {
    const missing = await missingWorkers(db, worker);
    missingSince = new Map(missing.map((other) => [other, missingSince.get(other) ?? now()]));
    const dead = missing.filter((other) => now() - (missingSince.get(other) ?? now()) >= takeOverAfterMs);
    if (dead.length === 0) return 0;
    const jobs = await db.tx(async (tx) => takeOverJobs(tx, await lockedOut(tx, dead)));
    log.warn({ workers: dead, jobs }, 'took over the jobs of workers that are gone');
    return jobs;
  };
}

async function missingWorkers(db: Db, except: number): Promise<number[]> {
  const rows = await db.rows<{ worker: number }>(sql`
    select worker
      from (select distinct worker from jobs where worker is not null and worker <> ${except}) as busy
     where pg_try_advisory_xact_lock_shared(${PRESENCE_LOCK}, worker)`);
  return rows.map((row) => row.worker);
}

/** Those of the workers that are missing still, and cannot come back before the transaction ends. */
async function lockedOut(tx: Db, workers: readonly number[]): Promise<number[]> {
  const rows = await tx.rows<{ worker: number }>(sql`
    select worker from unnest(${workers}::integer[]) as worker
     where pg_try_advisory_xact_lock_shared(${PRESENCE_LOCK}, worker)`);
  return rows.map((row) => row.worker);
}
