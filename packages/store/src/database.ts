import pg from 'pg';
import { answerTimeoutMs, CONNECT_TIMEOUT_MS, STATEMENT_TIMEOUT_MS, types } from './client.ts';
import { connectionTo } from './hosts.ts';
import { openReads, type Reads, type RunQuery, readsOf } from './reads.ts';
import { type Sql, statement } from './sql.ts';

const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
// Replicas and workers share the 100 connections of a default PostgreSQL.
const DEFAULT_POOL_SIZE = 10;
const LIST_CONNECTIONS = 4;
const LIST_TIMEOUT_MS = 10_000;

// Lost connections (08, 28, 53, 57P, 58, XX, 25P03, 25P04) and stale prepared statements (0A000, 26000).
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
  readonly reads: Reads;
  /** Reads that can be slow: pages with counts, gauges, checks. Own connections, shorter timeout. */
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
      (query) => runOnPool(pool, query),
      (work) => transaction(pool, work),
    ),
    url,
    pool,
    reads,
    lists: readsOf((query) => runOnPool(listPool, query)),
    close,
  };
}

function openPool(
  url: string,
  settings: { max: number; application_name: string; statement_timeout: number },
): pg.Pool {
  const pool = new pg.Pool({
    ...settings,
    ...connectionTo(url),
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

function db(run: RunQuery, tx: Db['tx']): Db {
  return { ...readsOf(run), run: async (query) => (await run(query)).rowCount ?? 0, tx };
}

// Unlike pool.query, keeps the connection after an error such as a duplicate key.
async function runOnPool(pool: pg.Pool, query: Sql): Promise<pg.QueryResult> {
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
  let queue: Promise<unknown> = Promise.resolve();
  const sendNow = async (query: pg.QueryConfig | string) => {
    if (broken) throw new Error('The connection of this transaction was lost; nothing of it is stored.');
    try {
      return await client.query(query);
    } catch (error) {
      broken ||= breaksConnection(error);
      throw error;
    }
  };
  // One at a time: the driver deprecates queueing on one connection.
  const send = (query: pg.QueryConfig | string) => {
    const answer = queue.then(() => sendNow(query));
    queue = answer.catch(() => {});
    return answer;
  };
  // A late statement of a failed Promise.all must not reach the connection's next user.
  const run: RunQuery = async (query) => {
    if (!open) throw new Error('This transaction is over; its handle cannot be used any more.');
    return send(statement(query));
  };
  try {
    await send('begin');
    const result = await work(db(run, refuseNesting));
    open = false;
    const end = await send('commit');
    // The server answers ROLLBACK when an earlier statement failed.
    if (end.command !== 'COMMIT') throw new Error('A statement of this transaction failed; nothing of it is stored.');
    return result;
  } catch (error) {
    open = false;
    // Without a successful rollback the connection is closed, which rolls back as well.
    await send('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

// A savepoint would allow to catch an error and commit half of the work.
async function refuseNesting(): Promise<never> {
  throw new Error('A transaction is already open here: use its handle instead of starting another one inside it.');
}

// After an error that the server did not report, such as a timeout, the state of the connection is unknown.
function breaksConnection(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || NEEDS_NEW_CONNECTION.test(error.code ?? '');
}
