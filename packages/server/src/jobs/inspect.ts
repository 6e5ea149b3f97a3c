import { type Db, sql } from '@svc/store';

/** How a task's jobs stand, for the metrics. */
export interface TaskStats {
  readonly task: string;
  /** Due and not yet begun. */
  readonly waiting: number;
  /** Due later: a time was given, or an attempt failed. */
  readonly scheduled: number;
  readonly running: number;
  readonly failed: number;
  /** For how long the oldest waiting job has been due. */
  readonly oldestWaitingSeconds: number;
}

export function queueStats(db: Db): Promise<TaskStats[]> {
  return db.rows<TaskStats>(sql`
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
  readonly attempts: number;
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly failedAt: Date;
}

// A screenful for the operator; the count of all is in the statistics.
const MAX_FAILED_SHOWN = 100;

/** The jobs that used up their attempts, newest first. */
export function failedJobs(db: Db, limit = MAX_FAILED_SHOWN): Promise<FailedJob[]> {
  return db.rows<FailedJob>(sql`
    select id::text, task, attempt as attempts, last_error as "lastError", created_at as "createdAt",
           failed_at as "failedAt"
      from jobs
     where failed_at is not null
     order by failed_at desc
     limit ${Math.min(limit, MAX_FAILED_SHOWN)}`);
}
