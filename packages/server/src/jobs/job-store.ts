import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { WAKE_CHANNEL } from './job.ts';

export interface TakenJob {
  readonly id: bigint;
  readonly task: string;
  readonly queue: string | null;
  readonly tenant: string | null;
  readonly payload: unknown;
  readonly traceparent: string | null;
  readonly attempt: number;
  readonly maxAttempts: number;
}

const UNIQUE_VIOLATION = '23505';

// Two workers can choose jobs of one queue at the same moment; the loser retries and finds the queue busy.
const MAX_LOST_RACES = 5;

// Exponential backoff from 2 seconds to an hour; 25 % jitter spreads jobs that failed together.
const backoff = sql`least(power(2, attempt), 3600) * (0.75 + 0.5 * random()) * interval '1 second'`;
const failedAfterLastAttempt = sql`case when attempt >= max_attempts then now() end`;

/** `perTenant` bounds the running jobs of one tenant in this worker, those that it has already included. */
export async function takeJobs(
  db: Db,
  worker: number,
  tasks: readonly string[],
  limit: number,
  perTenant: number = limit,
): Promise<TakenJob[]> {
  for (let race = 1; ; race++) {
    try {
      return await tryToTakeJobs(db, worker, tasks, limit, perTenant);
    } catch (error) {
      const lost = error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION;
      if (!lost) throw error;
      if (race === MAX_LOST_RACES) return [];
    }
  }
}

function tryToTakeJobs(
  db: Db,
  worker: number,
  tasks: readonly string[],
  limit: number,
  perTenant: number,
): Promise<TakenJob[]> {
  return db.rows<TakenJob>(sql`
    with own as materialized (
      select tenant, count(*) as running from jobs where worker = ${worker} and tenant is not null group by tenant
    ), due as materialized (
      select id, queue, tenant, run_at from jobs
       where worker is null and failed_at is null and run_at <= now() and task = any (${tasks})
         and (queue is null
              or queue <> all (array(select queue from jobs where worker is not null and queue is not null)))
         and (tenant is null or tenant <> all (array(select tenant from own where running >= ${perTenant}::bigint)))
       order by run_at, id
       limit ${limit}
         for update skip locked
    ), first as (
      select id, tenant, row_number() over (partition by tenant order by run_at, id) as turn from due
       where queue is null or not exists (
         select from due as earlier
          where earlier.queue = due.queue and (earlier.run_at, earlier.id) < (due.run_at, due.id))
    ), chosen as (
      select id from first left join own using (tenant)
       where tenant is null or turn + coalesce(running, 0) <= ${perTenant}::bigint
    )
    update jobs set worker = ${worker}, attempt = attempt + 1, started_at = clock_timestamp()
      from chosen
     where jobs.id = chosen.id
    returning jobs.id, task, jobs.queue, jobs.tenant, payload, traceparent, attempt, max_attempts as "maxAttempts"`);
}

/** False when the job is no longer this worker's. */
export async function completeJob(db: Db, worker: number, job: TakenJob): Promise<boolean> {
  const done = sql`delete from jobs where id = ${job.id} and worker = ${worker} and attempt = ${job.attempt}`;
  return (await db.run(done)) === 1;
}

export async function failJob(db: Db, worker: number, job: TakenJob, reason: string): Promise<boolean> {
  const count = await putBack(
    db,
    sql`id = ${job.id} and worker = ${worker} and attempt = ${job.attempt}`,
    sql`last_error = ${reason}, run_at = now() + ${backoff}, failed_at = ${failedAfterLastAttempt}`,
  );
  return count === 1;
}

/** What there is to look after, in one read: jobs of other workers, and jobs of this one that it does not know. */
export async function findNeglected(
  db: Db,
  worker: number,
  { except, heldForMs }: { except: readonly bigint[]; heldForMs: number },
): Promise<{ readonly others: boolean; readonly strays: boolean }> {
  const row = await db.one<{ others: boolean; strays: boolean }>(sql`
    select exists (select from jobs where worker is not null and worker <> ${worker}) as others,
           exists (
             select from jobs
              where worker = ${worker} and id <> all (${except}::bigint[])
                and started_at <= clock_timestamp() - ${heldForMs} * interval '1 millisecond') as strays`);
  return row ?? { others: true, strays: true };
}

/** Releases jobs that this worker has held for so long, except those named; the attempt does not count. */
export async function releaseJobs(
  db: Db,
  worker: number,
  { except, heldForMs }: { except: readonly bigint[]; heldForMs: number },
): Promise<void> {
  const count = await putBack(
    db,
    sql`worker = ${worker} and id <> all (${except}::bigint[])
        and started_at <= clock_timestamp() - ${heldForMs} * interval '1 millisecond'`,
    sql`attempt = attempt - 1`,
  );
  if (count > 0) await wakeWorkers(db);
}

/** The attempt counts, so that a job cannot kill every process; the first repetition is immediate, as most deaths have other causes. */
export async function recoverJobs(db: Db, workers: readonly number[]): Promise<number> {
  return putBack(
    db,
    sql`worker = any (${workers}::integer[])`,
    sql`last_error = 'The process that ran it ended.', failed_at = ${failedAfterLastAttempt},
        run_at = case when attempt = 1 then now() else now() + ${backoff} end`,
  );
}

export async function retryFailedJob(db: Db, id: string): Promise<boolean> {
  const count = await putBack(
    db,
    sql`failed_at is not null and id::text = ${id}`,
    sql`failed_at = null, attempt = 0, run_at = now()`,
  );
  if (count > 0) await wakeWorkers(db);
  return count > 0;
}

async function wakeWorkers(db: Db): Promise<void> {
  await db.run(sql`select pg_notify(${WAKE_CHANNEL}, '')`);
}

/** Makes jobs pending again. A job with the key of a newer one is deleted: the newer one does its work. */
async function putBack(db: Db, which: Sql, changes: Sql): Promise<number> {
  const superseded = await db.run(sql`
    delete from jobs
     where ${which} and exists (
       select from jobs as newer
        where newer.task = jobs.task and newer.key = jobs.key and newer.failed_at is null
          and newer.id <> jobs.id and (newer.worker is null or newer.id > jobs.id))`);
  return superseded + (await db.run(sql`update jobs set worker = null, ${changes} where ${which}`));
}

export interface TaskStats {
  readonly task: string;
  readonly waiting: number;
  readonly scheduled: number;
  readonly running: number;
  readonly failed: number;
  readonly oldestWaitingSeconds: number;
}

export function queueStats(reads: Reads): Promise<TaskStats[]> {
  return reads.rows<TaskStats>(sql`
    select task,
           count(*) filter (where state = 'waiting')::integer as waiting,
           count(*) filter (where state = 'scheduled')::integer as scheduled,
           count(*) filter (where state = 'running')::integer as running,
           count(*) filter (where state = 'failed')::integer as failed,
           coalesce(max(extract(epoch from now() - run_at)) filter (where state = 'waiting'), 0)::float8
             as "oldestWaitingSeconds"
      from (select task, run_at,
                   case when failed_at is not null then 'failed'
                        when worker is not null then 'running'
                        when run_at > now() then 'scheduled'
                        else 'waiting' end as state
              from jobs) as jobs
     group by task
     order by task`);
}

export interface FailedJob {
  readonly id: string;
  readonly task: string;
  readonly organizationId: string | null;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly failedAt: Date;
}

const MAX_FAILED_SHOWN = 100;

export function failedJobs(db: Reads, limit = MAX_FAILED_SHOWN): Promise<FailedJob[]> {
  return db.rows<FailedJob>(sql`
    select id::text, task, tenant as "organizationId", attempt as attempts, last_error as "lastError", created_at as "createdAt",
           failed_at as "failedAt"
      from jobs
     where failed_at is not null
     order by failed_at desc
     limit ${Math.min(limit, MAX_FAILED_SHOWN)}`);
}

export async function countFailedJobs(reads: Reads): Promise<number> {
  const row = await reads.one<{ count: number }>(sql`
    select count(*)::integer as count from jobs where failed_at is not null`);
  return row?.count ?? 0;
}

/** The job, where it has failed. */
export function findFailedJob(db: Db, id: string): Promise<Pick<FailedJob, 'task' | 'organizationId'> | undefined> {
  return db.one(sql`
    select task, tenant as "organizationId" from jobs where id = ${id}::bigint and failed_at is not null`);
}
