import type { Database } from '@svc/store';
import { WAKE_CHANNEL } from './enqueue.ts';
import { pauseUnless } from './pause-unless.ts';

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
      await pauseUnless(over, lookMs);
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
