import { type Db, sql } from '@svc/store';
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
      returning task, run_at
    )
    select pg_notify(${WAKE_CHANNEL}, string_agg(distinct task, E'\\n'))
      from added where run_at <= now() having count(*) > 0`);
}

const orReplacing = sql`
  on conflict (task, key) where worker is null and failed_at is null
  do update set payload = excluded.payload, queue = excluded.queue, max_attempts = excluded.max_attempts,
                tenant = coalesce(excluded.tenant, jobs.tenant),
                traceparent = coalesce(excluded.traceparent, jobs.traceparent),
                run_at = least(jobs.run_at, excluded.run_at), attempt = 0`;

/** Whether a notification is for one of these tasks. Without names it is for all. */
export const isWokenBy = (payload: string, tasks: Readonly<Record<string, unknown>>): boolean =>
  payload === '' || payload.split('\n').some((task) => Object.hasOwn(tasks, task));

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
}

/**
 * Enqueues what is due, in one statement that writes nothing where nothing is. Missed runs are skipped; a run that is still pending is
 * not repeated. The caller takes jobs next, so no worker is notified.
 */
export async function enqueueRecurring(db: Db, recurring: readonly RecurringJob[]): Promise<void> {
  if (recurring.length === 0) return;
  await db.run(sql`
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
    )
    insert into jobs (task, payload, key, queue, run_at, max_attempts)
    select due.task, '{}', 'every ' || due.every_seconds || ' s', wanted.queue, now(), ${DEFAULT_MAX_ATTEMPTS}::integer
      from due join wanted on wanted.task = due.task and wanted.seconds = due.every_seconds
     order by due.task, due.every_seconds
    ${orReplacing}`);
}
