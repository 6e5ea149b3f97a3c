import pg from 'pg';
import { ANSWER_TIMEOUT_MS, CONNECT_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './limits.ts';
import { openReads, type Reads } from './reads.ts';
import { type Sql, statement } from './sql.ts';
import { types } from './types.ts';

// A transaction that waits this long for its own program holds locks that others need.
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
// PostgreSQL allows 100 connections by default; several replicas and workers share them.
const DEFAULT_POOL_SIZE = 10;

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
  /** For short statements that only read and need no transaction: cheaper than a connection of the pool. */
  readonly reads: Reads;
  close(): Promise<void>;
}

type Ask = (query: Sql) => Promise<pg.QueryResult>;

export function connect(url: string, options: { max?: number; applicationName?: string } = {}): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? DEFAULT_POOL_SIZE,
    application_name: options.applicationName ?? 'svc',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    types,
  });
  // A connection that dies is replaced by the pool, and its query rejects; an unheard event would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  const reads = openReads(url, options.applicationName ?? 'svc');
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= Promise.all([pool.end(), reads.close()]).then(() => {});
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
    close,
  };
}

function db(ask: Ask, tx: Db['tx']): Db {
  return {
    rows: async <T>(query: Sql) => (await ask(query)).rows as T[],
    one: async <T>(query: Sql) => (await ask(query)).rows[0] as T | undefined,
    run: async (query) => (await ask(query)).rowCount ?? 0,
    tx,
  };
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
