-- The queue. A job is written in the transaction that causes it, and its row goes when its handler has succeeded.
-- Waiting: no worker, not failed. Running: a worker. Failed: all attempts are used up, and the operator decides.
create table jobs (
  id bigint generated always as identity primary key,
  task text not null check (char_length(task) between 1 and 100),
  payload jsonb not null,
  key text check (char_length(key) between 1 and 200),
  queue text check (char_length(queue) between 1 and 200),
  run_at timestamptz not null,
  attempt integer not null default 0,
  max_attempts integer not null check (max_attempts between 1 and 100),
  -- The number of the process that runs it, which holds the advisory lock of that number while it lives.
  worker integer,
  started_at timestamptz,
  last_error text,
  failed_at timestamptz,
  created_at timestamptz not null default now(),
  check (attempt between 0 and max_attempts),
  check (worker is null or (started_at is not null and failed_at is null)),
  check (attempt < max_attempts or worker is not null or failed_at is not null)
);
-- What is due next.
create index jobs_waiting on jobs (run_at, id) where worker is null and failed_at is null;
-- At most one waiting job of a task has a given key.
create unique index jobs_key on jobs (task, key) where worker is null and failed_at is null;
-- The jobs of a queue run one after the other.
create unique index jobs_queue on jobs (queue) where worker is not null;
-- The jobs of a worker, to hand them back or to take them over.
create index jobs_worker on jobs (worker) where worker is not null;
-- What failed for good, newest first.
create index jobs_failed on jobs (failed_at) where failed_at is not null;

-- Numbers the processes that run jobs; there are never two alive with the same one.
create sequence job_workers as integer cycle;

-- When a recurring task is due again. The process that moves the time on is the one that enqueues the job.
create table recurring_jobs (
  task text not null,
  every_seconds integer not null check (every_seconds > 0),
  next_at timestamptz not null,
  primary key (task, every_seconds)
);
