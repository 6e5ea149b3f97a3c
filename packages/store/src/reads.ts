import type pg from 'pg';
import {
  answerTimeoutMs,
  breaksConnection,
  connectClient,
  endClient,
  holdWrites,
  PIPELINE,
  PLANNED_ONCE,
  STATEMENT_TIMEOUT_MS,
} from './client.ts';
import type { Sql } from './sql.ts';
import { type Answer, runStatement } from './statement.ts';
import { currentTenant, TenantShares } from './tenant.ts';

/** Statements that only read, each on its own: no transaction and no row locks. */
export interface Reads {
  rows<T>(query: Sql): Promise<T[]>;
  one<T>(query: Sql): Promise<T | undefined>;
}

export type RunQuery = (query: Sql) => Promise<Answer>;

export function readsOf(run: RunQuery): Reads {
  return {
    rows: async <T>(query: Sql) => (await run(query)).rows as T[],
    one: async <T>(query: Sql) => (await run(query)).rows[0] as T | undefined,
  };
}

export interface ReadConnections extends Reads {
  close(): Promise<void>;
}

const CONNECTIONS = 2;

/** Statements of one tenant under way: what another's may have to wait for. Enough to keep both pipelines full. */
const TENANT_SHARE = 16;
/** They take no connection, so many more may wait than for the pool. */
const MAX_WAITING = 5_000;

/** Pipelines the statements of all callers: half the cost of a pooled connection, but a slow statement delays the rest. */
export function openReads(url: string, applicationName: string): ReadConnections {
  const slots: (Promise<pg.Client> | undefined)[] = new Array(CONNECTIONS).fill(undefined);
  const shares = new TenantShares(TENANT_SHARE, { maxWaiting: MAX_WAITING });
  let last = 0;
  let closed = false;

  const open = (): Promise<pg.Client> => {
    const opened = connectClient(url, {
      application_name: `${applicationName} reads`,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: answerTimeoutMs(STATEMENT_TIMEOUT_MS),
      options: PLANNED_ONCE,
      ...PIPELINE,
    });
    const retired = () => retire(opened);
    opened.then((client) => client.once('end', retired), retired);
    return opened;
  };
  /** It ends after the answers to what was sent on it. */
  const retire = (opened: Promise<pg.Client>) => {
    const slot = slots.indexOf(opened);
    if (slot < 0) return;
    slots[slot] = undefined;
    opened.then(endClient, () => {});
  };
  const next = (): Promise<pg.Client> => {
    if (closed) throw new Error('The database is closed.');
    last = (last + 1) % CONNECTIONS;
    const opened = slots[last] ?? open();
    slots[last] = opened;
    return opened;
  };
  const send = async (opened: Promise<pg.Client>, query: Sql): Promise<Answer> => {
    const client = await opened;
    try {
      holdWrites(client, setImmediate);
      return await runStatement(client, query);
    } catch (error) {
      if (breaksConnection(error)) retire(opened);
      throw error;
    }
  };
  const run: RunQuery = async (query) => {
    const giveBack = await shares.take(currentTenant());
    try {
      return await send(next(), query);
    } finally {
      giveBack();
    }
  };
  return {
    ...readsOf(run),
    close: async () => {
      closed = true;
      await Promise.allSettled(slots.splice(0).map(async (opening) => opening && endClient(await opening)));
    },
  };
}
