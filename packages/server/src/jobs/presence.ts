import { connect, type Database, type Db, sql } from '@svc/store';
import { sleep } from '../util/wakeup.ts';
import { type JobLog, recoverJobs, WAKE_CHANNEL } from './job.ts';

export const PRESENCE_APPLICATION = 'svc jobs presence';

const FIRST_RECONNECT_MS = 50;
const MAX_RECONNECT_MS = 1_000;

/** A session lock that shows the worker to others and ends with its process. */
export interface Presence {
  readonly worker: number;
  readonly connected: boolean;
  close(): Promise<void>;
}

interface PresenceOptions {
  readonly url: string;
  readonly timing: Timing;
  readonly log: JobLog;
  /** With the payload of a notification; without one where some may have been missed. */
  onWake(payload?: string): void;
  onLost(): void;
}

export interface Timing {
  readonly pollMs: number;
  /** A worker without its lock for this long interrupts its jobs. */
  readonly lostAfterMs: number;
  /** Jobs of a worker without its lock for this long are recovered: later than it interrupts them itself. */
  readonly recoverAfterMs: number;
}

export const DEFAULT_TIMING: Timing = { pollMs: 1_000, lostAfterMs: 1_500, recoverAfterMs: 3_000 };

export async function announceWorker(options: PresenceOptions): Promise<Presence> {
  const db = connect(options.url, { max: 1, applicationName: PRESENCE_APPLICATION });
  try {
    const next = await db.one<{ worker: number }>(sql`select nextval('job_workers')::integer as worker`);
    if (!next) throw new Error('The database gave the worker no number.');
    return maintainPresence(db, next.worker, await lockPresence(db, next.worker, options.onWake), options);
  } catch (error) {
    await db.close();
    throw error;
  }
}

function maintainPresence(db: Database, worker: number, first: PresenceConnection, options: PresenceOptions): Presence {
  const { timing, log, onWake, onLost } = options;
  const closed = new AbortController();
  let connection: PresenceConnection | undefined = first;
  const maintain = async () => {
    while (!closed.signal.aborted) {
      await connection?.untilLost(timing.pollMs, closed.signal);
      connection?.drop();
      connection = undefined;
      if (closed.signal.aborted) return;
      log.warn({ worker }, 'worker connection lost');
      const timer = setTimeout(onLost, timing.lostAfterMs);
      connection = await reconnect(db, worker, options, closed.signal);
      clearTimeout(timer);
      onWake();
    }
  };
  const maintaining = maintain();
  return {
    worker,
    get connected() {
      return connection !== undefined;
    },
    close: async () => {
      closed.abort();
      await maintaining;
      connection?.drop();
      await db.close();
    },
  };
}

async function reconnect(
  db: Database,
  worker: number,
  { log, onWake }: PresenceOptions,
  closed: AbortSignal,
): Promise<PresenceConnection | undefined> {
  for (let delay = FIRST_RECONNECT_MS; !closed.aborted; delay = Math.min(delay * 2, MAX_RECONNECT_MS)) {
    try {
      const connection = await lockPresence(db, worker, onWake);
      log.info({ worker }, 'worker connection restored');
      return connection;
    } catch (error) {
      log.warn({ worker, err: error }, 'worker connection failed');
    }
    await sleep(closed, delay);
  }
  return undefined;
}

/** First half of a worker's advisory lock; the second is the worker's number. */
export const PRESENCE_LOCK = 0x6a6f6273;

const HEARTBEAT_TIMEOUT_MS = 2_000;
// The server ends the connection of a vanished machine, and with it the lock, after about 11 seconds.
const SERVER_SETTINGS = `select set_config('tcp_keepalives_idle', '5', false),
  set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '3', false)`;

interface PresenceConnection {
  untilLost(pollMs: number, closed: AbortSignal): Promise<void>;
  drop(): void;
}

/** Rejects when the lock is not free, which happens while an earlier connection of this worker is still ending. */
async function lockPresence(
  db: Database,
  worker: number,
  onWake: PresenceOptions['onWake'],
): Promise<PresenceConnection> {
  const client = await db.pool.connect();
  const ended = new AbortController();
  client.once('end', () => ended.abort());
  client.on('notification', ({ payload }) => onWake(payload));
  const query = async (text: string, values?: unknown[]) => {
    const statement = { text, ...(values && { values }), query_timeout: HEARTBEAT_TIMEOUT_MS };
    return (await client.query(statement)).rows[0];
  };
  let dropped = false;
  const drop = () => {
    if (!dropped) client.release(true);
    dropped = true;
  };
  try {
    await query(SERVER_SETTINGS);
    const { held } = await query('select pg_try_advisory_lock($1, $2) as held', [PRESENCE_LOCK, worker]);
    if (held !== true) throw new Error('An earlier connection of this worker still holds its lock.');
    await query(`listen ${WAKE_CHANNEL}`);
  } catch (error) {
    drop();
    throw error;
  }
  const untilLost = async (pollMs: number, closed: AbortSignal) => {
    const over = AbortSignal.any([closed, ended.signal]);
    while (!over.aborted) {
      await sleep(over, pollMs);
      if (over.aborted) return;
      const answered = await query('select 1').then(
        () => true,
        () => false,
      );
      if (!answered) return;
    }
  };
  return { untilLost, drop };
}

interface Neglected {
  readonly due: boolean;
  /** Other workers with jobs whose lock is free. */
  readonly missing: readonly number[];
  readonly strays: boolean;
}

/** What there is to look after, in one read: due jobs, jobs of missing workers, and jobs of this one that it does not know. */
export async function findNeglected(
  db: Db,
  worker: number,
  tasks: readonly string[],
  { except, heldForMs }: { except: readonly bigint[]; heldForMs: number },
): Promise<Neglected> {
  const row = await db.one<Neglected>(sql`
    select exists (
             select from jobs where worker is null and failed_at is null and run_at <= now() and task = any (${tasks})) as due,
           array(
             select worker
               from (select distinct worker from jobs where worker is not null and worker <> ${worker}) as busy
              where pg_try_advisory_xact_lock_shared(${PRESENCE_LOCK}, worker)) as missing,
           exists (
             select from jobs
              where worker = ${worker} and id <> all (${except}::bigint[])
                and started_at <= clock_timestamp() - ${heldForMs} * interval '1 millisecond') as strays`);
  return row ?? { due: true, missing: [], strays: true };
}

interface RecoveryOptions {
  readonly db: Database;
  readonly recoverAfterMs: number;
  readonly log: JobLog;
  readonly now?: () => number;
}

/** Jobs of workers whose lock stays free for `recoverAfterMs`: time for a live one to reconnect or to interrupt its jobs. */
export function createRecovery(options: RecoveryOptions): (missing: readonly number[]) => Promise<number> {
  const { db, recoverAfterMs, log, now = () => performance.now() } = options;
  let missingSince = new Map<number, number>();
  return async (missing) => {
    missingSince = new Map(missing.map((other) => [other, missingSince.get(other) ?? now()]));
    const dead = missing.filter((other) => now() - (missingSince.get(other) ?? now()) >= recoverAfterMs);
    if (dead.length === 0) return 0;
    const jobs = await db.tx(async (tx) => recoverJobs(tx, await stillMissing(tx, dead)));
    log.warn({ workers: dead, jobs }, 'jobs of dead workers recovered');
    return jobs;
  };
}

/** Workers without a lock; the shared lock keeps them from reconnecting before the transaction ends. */
async function stillMissing(tx: Db, workers: readonly number[]): Promise<number[]> {
  const rows = await tx.rows<{ worker: number }>(sql`
    select worker from unnest(${workers}::integer[]) as worker
     where pg_try_advisory_xact_lock_shared(${PRESENCE_LOCK}, worker)`);
  return rows.map((row) => row.worker);
}
