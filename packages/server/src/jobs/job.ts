import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { traceparent } from '../util/trace.ts';

/** Runs at least once: a crash repeats it, so its handler must be idempotent. */
export interface NewJob {
  readonly task: string;
  readonly payload: unknown;
  readonly runAt?: Date;
  /** At most one pending job for each task and key: another replaces its payload and keeps the earlier time. */
  readonly key?: string;
  readonly maxAttempts?: number;
  /** Jobs of one queue never run at the same time. */
  readonly queue?: string;
  /** The organisation that it is for. A process gives one tenant half of its workers at most. */
  readonly tenant?: string | undefined;
  /** It serves many requests: its steps name the one that each is for. */
  readonly isShared?: boolean;
}

export interface JobContext {
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly jobId: string;
  /** Aborted when the job takes too long, the process stops, or another worker may recover the job. */
  readonly signal: AbortSignal;
  /** Aborted earlier, when the process takes no more jobs: one that waits for something to happen ends. */
  readonly stopping: AbortSignal;
}

export type JobHandler<P> = (payload: P, context: JobContext) => Promise<void>;

export type JobHandlers = Readonly<Record<string, JobHandler<never>>>;

export interface JobLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const WAKE_CHANNEL = 'svc_jobs';

// About half a day with backoff: longer than most outages.
const DEFAULT_MAX_ATTEMPTS = 25;
const MAX_PAYLOAD_CHARACTERS = 65_536;
const MAX_JOBS_AT_ONCE = 1_000;
/** PostgreSQL takes 8,000. */
const MAX_WAKE_BYTES = 7_000;

export async function enqueue(tx: Db, job: NewJob): Promise<void> {
  await enqueueMany(tx, [job]);
}

export async function enqueueMany(tx: Db, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return;
  if (jobs.length > MAX_JOBS_AT_ONCE) throw new Error(`At most ${MAX_JOBS_AT_ONCE} jobs can be enqueued at once.`);
  const rows = JSON.stringify(withoutRepeatedKeys(jobs).map(toRow));
  // Always the same order, so that two transactions with the same keys do not deadlock.
  await tx.run(sql`
    with added as (
      insert into jobs (task, payload, key, queue, tenant, run_at, max_attempts, traceparent)
      select task, coalesce(payload, 'null'), key, queue, tenant, coalesce(run_at, now()), max_attempts, traceparent
        from jsonb_to_recordset(${rows}::jsonb) as job (
          task text, payload jsonb, key text, queue text, tenant text, run_at timestamptz, max_attempts integer,
          traceparent text)
       order by task, key
      ${orReplacing}
      returning task, queue, run_at
    ), wakened as (
      select string_agg(distinct task, E'\\n') as tasks,
             string_agg(distinct task || coalesce(E'\\n\\t' || queue, ''), E'\\n') as queued
        from added where run_at <= now() having count(*) > 0
    )
    select pg_notify(${WAKE_CHANNEL}, case when octet_length(queued) <= ${MAX_WAKE_BYTES}::integer then queued else tasks end)
      from wakened`);
}

const orReplacing = sql`
  on conflict (task, key) where worker is null and failed_at is null
  do update set payload = excluded.payload, queue = excluded.queue, max_attempts = excluded.max_attempts,
                tenant = coalesce(excluded.tenant, jobs.tenant),
                traceparent = coalesce(excluded.traceparent, jobs.traceparent),
                run_at = least(jobs.run_at, excluded.run_at), attempt = 0`;

/**
 * Whether a notification is for one of these tasks, without names for all. A line names a task, and one that begins with a tab the
 * queue of the task before it, which waits where the queue is busy.
 */
export function isWokenBy(
  payload: string,
  tasks: Readonly<Record<string, unknown>>,
  busy: ReadonlySet<string> = new Set(),
): boolean {
  if (payload === '') return true;
  const lines = payload.split('\n');
  return lines.some((task, place) => {
    const next = lines[place + 1] ?? '';
    return Object.hasOwn(tasks, task) && !(next.startsWith('\t') && busy.has(next.slice(1)));
  });
}

function withoutRepeatedKeys(jobs: readonly NewJob[]): NewJob[] {
  const kept = new Map<unknown, NewJob>();
  for (const job of jobs) kept.set(job.key === undefined ? job : JSON.stringify([job.task, job.key]), job);
  return [...kept.values()];
}

function toRow(job: NewJob): object {
  const { task, payload, key, queue, tenant, runAt, isShared = false, maxAttempts = DEFAULT_MAX_ATTEMPTS } = job;
  const length = JSON.stringify(payload)?.length ?? 0;
  if (length > MAX_PAYLOAD_CHARACTERS) {
    throw new Error(`The payload of a job ${task} is longer than ${MAX_PAYLOAD_CHARACTERS} characters.`);
  }
  const trace = isShared ? undefined : traceparent();
  return { task, payload, key, queue, tenant, run_at: runAt, max_attempts: maxAttempts, traceparent: trace };
}

/** Runs every so many seconds from midnight UTC, once over all processes, with the payload {}. */
export interface RecurringJob {
  readonly task: string;
  readonly everySeconds: number;
  /** For one that may take longer than its period: its runs never overlap. */
  readonly queue?: string;
  /** It waits most of the time, so there is a place for it beside those of the other jobs. */
  readonly isWatching?: boolean;
}

/**
 * Enqueues what is due, in one statement that writes nothing where nothing is, and answers in how many milliseconds the next run
 * is due. Missed runs are skipped; a run that is still pending is not repeated. The caller takes jobs next, so no worker is notified.
 */
export async function enqueueRecurring(db: Db, recurring: readonly RecurringJob[]): Promise<number> {
  if (recurring.length === 0) return Number.POSITIVE_INFINITY;
  const next = await db.one<{ ms: number }>(sql`
    with wanted as materialized (
      select task, "everySeconds" as seconds, queue
        from jsonb_to_recordset(${JSON.stringify(recurring)}::jsonb) as wanted (task text, "everySeconds" integer, queue text)
    ), due as (
      insert into recurring_jobs (task, every_seconds, next_at)
      select task, seconds, to_timestamp((floor(extract(epoch from now()) / seconds) + 1) * seconds)
        from wanted
       where not exists (
         select from recurring_jobs as known
          where known.task = wanted.task and known.every_seconds = wanted.seconds and known.next_at > now())
       order by task, seconds
      on conflict (task, every_seconds) do update set next_at = excluded.next_at
       where recurring_jobs.next_at <= now()
      returning task, every_seconds
    ), added as (
      insert into jobs (task, payload, key, queue, run_at, max_attempts)
      select due.task, '{}', 'every ' || due.every_seconds || ' s', wanted.queue, now(), ${DEFAULT_MAX_ATTEMPTS}::integer
        from due join wanted on wanted.task = due.task and wanted.seconds = due.every_seconds
       order by due.task, due.every_seconds
      ${orReplacing}
    )
    select min(seconds - mod(extract(epoch from now()), seconds))::float8 * 1000 as ms from wanted`);
  return next?.ms ?? 0;
}

export interface TakenJob {
  readonly id: bigint;
  readonly task: string;
  readonly queue: string | null;
  readonly tenant: string | null;
  readonly payload: unknown;
  readonly traceparent: string | null;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** When it was taken, more jobs may have been due than were considered. */
  readonly moreDue: boolean;
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
     where id = any (array(select id from chosen))
    returning id, task, queue, tenant, payload, traceparent, attempt, max_attempts as "maxAttempts",
              (select count(*) from due) >= ${limit}::bigint as "moreDue"`);
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

interface TaskStats {
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

interface FailedJob {
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
