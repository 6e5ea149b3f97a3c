import pg from 'pg';
import { answerTimeoutMs, CONNECT_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './limits.ts';
import { type Ask, openReads, type Reads, readsOf } from './reads.ts';
import { type Sql, statement } from './sql.ts';
import { types } from './types.ts';

// A transaction that waits this long for its own program holds locks that others need.
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
// PostgreSQL allows 100 connections by default; several replicas and workers share them.
const DEFAULT_POOL_SIZE = 10;
// Opened on demand and closed when idle. A few slow lists at once leave a connection for metrics.
const LIST_CONNECTIONS = 4;
// Callers do not wait longer for a page, and a metrics scrape gives up at about the same time.
const LIST_TIMEOUT_MS = 10_000;

// Codes, because severities come in the server's language. The connection is lost or about to be (08, 28, 53, 57P, 58, XX,
// 25P03, 25P04), or holds a prepared statement that no longer fits (0A000, 26000), which only a new connection heals.
const NEEDS_NEW_CONNECTION = /^(08|28|53|57P|58|XX|25P03|25P04|0A000|26000)/;

export interface Db {
  rows<T>(query: Sql): Promise<T[]>;
  one<T>(query: Sql): Promise<T | undefined>;
  run(query: Sql): Promise<number>;
  tx<T>(work: (tx: Db) => Promise<T>): Promise<T>;
}

export interface Database extends Db {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Short reads without a transaction, pipelined: cheaper than a connection of the pool, but a slow one delays the rest. */
  readonly reads: Reads;
  /** Reads that may be slow: pages with their counts, gauges and checks. Connections of their own, with a shorter timeout. */
  readonly lists: Reads;
  close(): Promise<void>;
}

export function connect(url: string, options: { max?: number; applicationName?: string } = {}): Database {
  const name = options.applicationName ?? 'svc';
  const pool = openPool(url, {
    max: options.max ?? DEFAULT_POOL_SIZE,
    application_name: name,
    statement_timeout: STATEMENT_TIMEOUT_MS,
  });
  const listPool = openPool(url, {
    max: LIST_CONNECTIONS,
    application_name: `${name} lists`,
    statement_timeout: LIST_TIMEOUT_MS,
  });
  const reads = openReads(url, name);
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= Promise.all([pool.end(), listPool.end(), reads.close()]).then(() => {});
    return closing;
  };
  return {
    ...db(
      (query) => askPool(pool, query),
      (work) => transaction(pool, work),
    ),
    url,
    pool,
    reads,
    lists: readsOf((query) => askPool(listPool, query)),
    close,
  };
}

function openPool(
  url: string,
  settings: { max: number; application_name: string; statement_timeout: number },
): pg.Pool {
  const pool = new pg.Pool({
    ...settings,
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: answerTimeoutMs(settings.statement_timeout),
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    types,
  });
  // The pool replaces a lost connection and rejects its query; an unhandled 'error' event would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function db(ask: Ask, tx: Db['tx']): Db {
  return { ...readsOf(ask), run: async (query) => (await ask(query)).rowCount ?? 0, tx };
}

// Unlike pool.query, a refused statement (a duplicate key, say) does not cost the pool its connection.
async function askPool(pool: pg.Pool, query: Sql): Promise<pg.QueryResult> {
  const client = await pool.connect();
  let broken = false;
  try {
    return await client.query(statement(query));
  } catch (error) {
    broken = breaksConnection(error);
    throw error;
  } finally {
    client.release(broken);
  }
}

async function transaction<T>(pool: pg.Pool, work: (tx: Db) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let open = true;
  let broken = false;
  let turn: Promise<unknown> = Promise.resolve();
  const sendNow = async (query: pg.QueryConfig | string) => {
    if (broken) throw new Error('The connection of this transaction was lost; nothing of it is stored.');
    try {
      return await client.query(query);
    } catch (error) {
      broken ||= breaksConnection(error);
      throw error;
    }
  };
  // One at a time: the driver gives up queueing statements that are asked together on one connection.
  const send = (query: pg.QueryConfig | string) => {
    const answer = turn.then(() => sendNow(query));
    turn = answer.catch(() => {});
    return answer;
  };
  // After the end the connection belongs to someone else, and a straggler of a failed Promise.all must not write on it.
  const ask: Ask = async (query) => {
    if (!open) throw new Error('This transaction is over; its handle cannot be used any more.');
    return send(statement(query));
  };
  try {
    await send('begin');
    const result = await work(db(ask, refuseNesting));
    open = false;
    const end = await send('commit');
    // The server answers ROLLBACK when a statement failed and the work went on regardless.
    if (end.command !== 'COMMIT') throw new Error('A statement of this transaction failed; nothing of it is stored.');
    return result;
  } catch (error) {
    open = false;
    // Without a rollback that succeeded the connection is closed, and the server rolls back by itself.
    await send('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

// A savepoint would let the caller catch the error and commit half of its work, so a nested transaction is refused.
async function refuseNesting(): Promise<never> {
  throw new Error('A transaction is already open here: use its handle instead of starting another one inside it.');
}

// An error that the server reports leaves the connection usable; after any other, a time-out say, its state is unknown.
function breaksConnection(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || NEEDS_NEW_CONNECTION.test(error.code ?? '');
}
