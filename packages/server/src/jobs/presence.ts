import { connect, type Database, type Db, sql } from '@svc/store';
import { errorText } from '../util/text.ts';
import { sleep } from '../util/wakeup.ts';
import { type JobLog, WAKE_CHANNEL } from './job.ts';
import { takeOverJobs } from './job-store.ts';

export const PRESENCE_APPLICATION = 'svc jobs presence';

const FIRST_RECONNECT_MS = 50;
// A database that restarts is back within seconds, and until then this worker takes no jobs.
const MAX_RECONNECT_MS = 1_000;

/** What makes a worker visible to the others: a lock that ends with its process, however that ends. */
export interface Presence {
  readonly worker: number;
  /** Whether the lock is held, as far as is known. */
  readonly seen: boolean;
  close(): Promise<void>;
}

interface PresenceOptions {
  readonly url: string;
  readonly timing: Timing;
  readonly log: JobLog;
  /** New jobs may be there. */
  onWake(): void;
  /** The lock is lost for so long that others may take over the jobs that run. */
  onLost(): void;
}

/** Rejects when the database cannot be reached; later losses are mended for as long as the presence is not closed. */
export async function announceWorker(options: PresenceOptions): Promise<Presence> {
  const db = connect(options.url, { max: 1, applicationName: PRESENCE_APPLICATION });
  try {
    const next = await db.one<{ worker: number }>(sql`select nextval('job_workers')::integer as worker`);
    if (!next) throw new Error('The database gave the worker no number.');
    return stayPresent(db, next.worker, await takePlace(db, next.worker, options.onWake), options);
  } catch (error) {
    await db.close();
    throw error;
  }
}

function stayPresent(db: Database, worker: number, first: PresenceConnection, options: PresenceOptions): Presence {
  const { timing, log, onWake, onLost } = options;
  const closed = new AbortController();
  let connection: PresenceConnection | undefined = first;
  const stay = async () => {
    while (!closed.signal.aborted) {
      await connection?.untilLost(timing.lookMs, closed.signal);
      connection?.drop();
      connection = undefined;
      if (closed.signal.aborted) return;
      log.warn({ worker }, 'the worker lost its connection');
      const timer = setTimeout(onLost, timing.lostAfterMs);
      connection = await reconnect(db, worker, options, closed.signal);
      clearTimeout(timer);
      onWake();
    }
  };
  const staying = stay();
  return {
    worker,
    get seen() {
      return connection !== undefined;
    },
    close: async () => {
      closed.abort();
      await staying;
      connection?.drop();
      await db.close();
    },
  };
}

/** Tries until it succeeds; undefined once the presence is closed. */
async function reconnect(
  db: Database,
  worker: number,
  { log, onWake }: PresenceOptions,
  closed: AbortSignal,
): Promise<PresenceConnection | undefined> {
  for (let delay = FIRST_RECONNECT_MS; !closed.aborted; delay = Math.min(delay * 2, MAX_RECONNECT_MS)) {
    try {
      const connection = await takePlace(db, worker, onWake);
      log.info({ worker }, 'the worker is connected again');
      return connection;
    } catch (error) {
      log.warn({ worker, reason: errorText(error) }, 'the worker could not connect');
    }
    await sleep(closed, delay);
  }
  return undefined;
}

/** The first half of the advisory locks that workers hold; the second is the worker's number. */
export const PRESENCE_LOCK = 0x6a6f6273;

// A question without an answer for this long means that the connection is gone, whatever the network says.
const ANSWER_TIMEOUT_MS = 2_000;
// When a machine vanishes without a word, the server ends its connection, and with it the lock, after about 11 seconds.
const SERVER_SETTINGS = `select set_config('tcp_keepalives_idle', '5', false),
  set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '3', false)`;

/** A connection that holds a worker's lock and hears of new jobs. */
export interface PresenceConnection {
  /** Returns when the connection is lost or no longer answers, or when `closed` is aborted. */
  untilLost(lookMs: number, closed: AbortSignal): Promise<void>;
  drop(): void;
}

/** Rejects when the lock is not free, which happens while an earlier connection of this worker is still ending. */
export async function takePlace(db: Database, worker: number, onWake: () => void): Promise<PresenceConnection> {
  const client = await db.pool.connect();
  const ended = new AbortController();
  client.once('end', () => ended.abort());
  client.on('notification', onWake);
  const ask = async (text: string, values?: unknown[]) => {
    const question = { text, ...(values && { values }), query_timeout: ANSWER_TIMEOUT_MS };
    return (await client.query(question)).rows[0];
  };
  let dropped = false;
  const drop = () => {
    if (!dropped) client.release(true);
    dropped = true;
  };
  try {
    await ask(SERVER_SETTINGS);
    const { held } = await ask('select pg_try_advisory_lock($1, $2) as held', [PRESENCE_LOCK, worker]);
    if (held !== true) throw new Error('An earlier connection of this worker still holds its lock.');
    await ask(`listen ${WAKE_CHANNEL}`);
  } catch (error) {
    drop();
    throw error;
  }
  const untilLost = async (lookMs: number, closed: AbortSignal) => {
    const over = AbortSignal.any([closed, ended.signal]);
    while (!over.aborted) {
      await sleep(over, lookMs);
      if (over.aborted) return;
      const answered = await ask('select 1').then(
        () => true,
        () => false,
      );
      if (!answered) return;
    }
  };
  return { untilLost, drop };
}

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
export function createRecovery(options: TakeOverOptions): () => Promise<number> {
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

/** How fast workers notice what no notification tells them. */
export interface Timing {
  /** Between two looks for jobs that have become due, recurring tasks and jobs of workers that died. */
  readonly lookMs: number;
  /** A worker that the others cannot see for this long interrupts what it runs. */
  readonly lostAfterMs: number;
  /** The jobs of a worker that was gone for this long are taken over: later than it would interrupt them itself. */
  readonly takeOverAfterMs: number;
}

export const DEFAULT_TIMING: Timing = { lookMs: 1_000, lostAfterMs: 1_500, takeOverAfterMs: 3_000 };
