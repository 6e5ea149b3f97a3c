import pg from 'pg';
import {
  answerTimeoutMs,
  breaksConnection,
  CONNECT_TIMEOUT_MS,
  holdWrites,
  PIPELINE,
  PLANNED_ONCE,
  STATEMENT_TIMEOUT_MS,
  types,
  withSettings,
} from './client.ts';
import { connectionTo } from './hosts.ts';
import { openReads, type Reads, type RunQuery, readsOf } from './reads.ts';
import { type Sql, sql } from './sql.ts';
import { type Answer, runStatement } from './statement.ts';
import { currentTenant, TenantShares } from './tenant.ts';

const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
/** A new connection reads the catalogue and plans its statements again: longer than the pauses of jobs that repeat. */
const IDLE_TIMEOUT_MS = 60_000;
// Replicas and workers share the 100 connections of a default PostgreSQL.
const DEFAULT_POOL_SIZE = 10;
const LIST_CONNECTIONS = 4;
const LIST_TIMEOUT_MS = 10_000;
/** Short statements that a request may need before its tenant counts: credentials, rate limits, codes. */
const CONTROL_CONNECTIONS = 2;
const CONTROL_TIMEOUT_MS = 5_000;
const PROBE_TIMEOUT_MS = 2_000;
/** Longer than any transaction holds a row; a statement that waits longer is better repeated than waited for. */
const LOCK_TIMEOUT_MS = 10_000;
const TENANT_SHARE = 0.5;
const IS_SELECT = /^\s*select\b/i;

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
  /** For credentials, rate limits and codes: own connections, so that no tenant's work delays another's admission. Not durable at once. */
  readonly control: Db;
  probe(): Promise<void>;
  close(): Promise<void>;
}

export function connect(
  url: string,
  options: { max?: number; applicationName?: string; settings?: string } = {},
): Database {
  const name = options.applicationName ?? 'svc';
  const pool = openPool(url, {
    max: options.max ?? DEFAULT_POOL_SIZE,
    application_name: name,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    options: [PLANNED_ONCE, options.settings].join(' ').trim(),
  });
  const listPool = openPool(url, {
    max: LIST_CONNECTIONS,
    application_name: `${name} lists`,
    statement_timeout: LIST_TIMEOUT_MS,
  });
  const controlPool = openPool(url, {
    max: CONTROL_CONNECTIONS,
    application_name: `${name} control`,
    statement_timeout: CONTROL_TIMEOUT_MS,
    // A crash of the database may forget the counts of its last half second; nothing waits for its disk.
    options: `${PLANNED_ONCE} -c synchronous_commit=off`,
  });
  const probePool = openPool(url, { max: 1, application_name: `${name} probe`, statement_timeout: PROBE_TIMEOUT_MS });
  const reads = openReads(url, name);
  let closing: Promise<void> | undefined;
  const close = () => {
    const pools = [pool, listPool, controlPool, probePool];
    closing ??= Promise.all([...pools.map((each) => each.end()), reads.close()]).then(() => {});
    return closing;
  };
  const [fair, fairLists] = [fairPool(pool), fairPool(listPool)];
  const unlimited = () => controlPool.connect();
  return {
    ...dbOn(fair),
    url,
    pool,
    reads,
    lists: readsOf((query) => runOn(fairLists, query)),
    control: dbOn(unlimited),
    probe: async () => void (await runOn(() => probePool.connect(), sql`select 1`)),
    close,
  };
}

type Connect = () => Promise<pg.PoolClient>;

const dbOn = (connecting: Connect): Db =>
  db(
    (query) => runOn(connecting, query),
    (work) => transaction(connecting, work),
  );

function fairPool(pool: pg.Pool): Connect {
  const shares = new TenantShares(Math.max(1, Math.floor(pool.options.max * TENANT_SHARE)));
  return async () => {
    const giveBack = await shares.take(currentTenant());
    try {
      const client = await pool.connect();
      const release = client.release;
      client.release = (destroy) => {
        client.release = release;
        release.call(client, destroy);
        giveBack();
      };
      return client;
    } catch (error) {
      giveBack();
      throw error;
    }
  };
}

function openPool(
  url: string,
  { options = '', ...settings }: { max: number; application_name: string; statement_timeout: number; options?: string },
): pg.Pool {
  const { Client, connectionString } = connectionTo(url);
  const pool = new pg.Pool({
    ...settings,
    Client,
    connectionString: withSettings(connectionString, options),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: answerTimeoutMs(settings.statement_timeout),
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    keepAlive: true,
    ...PIPELINE,
    types,
  });
  // The pool replaces a lost connection and rejects its query; an unhandled 'error' event would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function db(run: RunQuery, tx: Db['tx']): Db {
  return { ...readsOf(run), run: async (query) => (await run(query)).count, tx };
}

// Unlike pool.query, keeps the connection after an error such as a duplicate key.
async function runOn(connecting: Connect, query: Sql): Promise<Answer> {
  const client = await connecting();
  let broken = false;
  try {
    return await runStatement(client, query);
  } catch (error) {
    broken = breaksConnection(error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Statements that are not waited for one by one reach the server together, and run in their order. */
async function transaction<T>(connecting: Connect, work: (tx: Db) => Promise<T>): Promise<T> {
  const client = await connecting();
  let open = true;
  let broken = false;
  let begun: Promise<unknown> | undefined;
  const send = async <T>(query: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    if (broken) throw new Error('The connection of this transaction was lost; nothing of it is stored.');
    try {
      holdWrites(client, process.nextTick);
      return await query(client);
    } catch (error) {
      broken ||= breaksConnection(error);
      throw error;
    }
  };
  const begin = () => {
    begun = send((to) => to.query('begin'));
    begun.catch(() => {});
    return begun;
  };
  // A late statement of a failed Promise.all must not reach the connection's next user.
  const requireOpen = () => {
    if (!open) throw new Error('This transaction is over; its handle cannot be used any more.');
  };
  const run: RunQuery = async (query) => {
    requireOpen();
    // Should `begin` fail, a select that was sent with it has changed nothing.
    if (begun === undefined && IS_SELECT.test(query.text)) void begin();
    else {
      await (begun ?? begin());
      requireOpen();
    }
    return send((to) => runStatement(to, query));
  };
  try {
    const result = await work(db(run, refuseNesting));
    open = false;
    if (begun === undefined) return result;
    await begun;
    const end = await send((to) => to.query('commit'));
    // The server answers ROLLBACK when an earlier statement failed.
    if (end.command !== 'COMMIT') throw new Error('A statement of this transaction failed; nothing of it is stored.');
    return result;
  } catch (error) {
    open = false;
    // Without a successful rollback the connection is closed, which rolls back as well.
    if (begun !== undefined) {
      await send((to) => to.query('rollback')).catch(() => {
        broken = true;
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Of one transaction, in the order in which they were begun. Throws the first failure, after all have ended. */
export async function sentTogether(steps: readonly Promise<unknown>[]): Promise<void> {
  for (const step of await Promise.allSettled(steps)) if (step.status === 'rejected') throw step.reason;
}

// A savepoint would allow to catch an error and commit half of the work.
async function refuseNesting(): Promise<never> {
  throw new Error('A transaction is already open here: use its handle instead of starting another one inside it.');
}
