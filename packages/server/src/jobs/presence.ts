import { connect, type Database, sql } from '@svc/store';
import { type JobLog, reasonOf } from './job.ts';
import { pauseUnless } from './pause-unless.ts';
import { type PresenceConnection, takePlace } from './presence-connection.ts';
import type { Timing } from './timing.ts';

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
export async function becomePresent(options: PresenceOptions): Promise<Presence> {
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
      connection = await comeBack(db, worker, options, closed.signal);
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
async function comeBack(
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
      log.warn({ worker, reason: reasonOf(error) }, 'the worker could not connect');
    }
    await pauseUnless(closed, delay);
  }
  return undefined;
}
