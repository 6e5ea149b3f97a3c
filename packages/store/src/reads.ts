import type pg from 'pg';
import { connectClient, endClient } from './client.ts';
import { answerTimeoutMs, STATEMENT_TIMEOUT_MS } from './limits.ts';
import { type Sql, statement } from './sql.ts';

/** Statements that only read, each on its own: no transaction and no row locks. */
export interface Reads {
  rows<T>(query: Sql): Promise<T[]>;
  one<T>(query: Sql): Promise<T | undefined>;
}

export type Ask = (query: Sql) => Promise<pg.QueryResult>;

export function readsOf(ask: Ask): Reads {
  return {
    rows: async <T>(query: Sql) => (await ask(query)).rows as T[],
    one: async <T>(query: Sql) => (await ask(query)).rows[0] as T | undefined,
  };
}

export interface ReadConnections extends Reads {
  close(): Promise<void>;
}

// Two keep both the server and PostgreSQL busy; more would only wait more often.
const CONNECTIONS = 2;
// Not yet among the driver's types.
const PIPELINE: object = { pipeline: true };

/**
 * Reads over connections that all callers share: a statement is sent while earlier ones are still being answered, which
 * costs a small read half as much as a connection of its own from a pool. A slow statement makes those behind it wait,
 * so this is for short ones only.
 */
export function openReads(url: string, applicationName: string): ReadConnections {
  const slots: (Promise<pg.Client> | undefined)[] = new Array(CONNECTIONS).fill(undefined);
  let turn = 0;
  let closed = false;

  const open = async (slot: number) => {
    const client = await connectClient(url, {
      application_name: `${applicationName} reads`,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: answerTimeoutMs(STATEMENT_TIMEOUT_MS),
      ...PIPELINE,
    });
    // The statements on their way reject by themselves; the next caller opens a new connection.
    client.once('end', () => {
      slots[slot] = undefined;
    });
    return client;
  };
  const client = (): Promise<pg.Client> => {
    if (closed) throw new Error('The database is closed.');
    turn = (turn + 1) % CONNECTIONS;
    const slot = turn;
    const opening = slots[slot] ?? open(slot);
    slots[slot] = opening;
    opening.catch(() => {
      if (slots[slot] === opening) slots[slot] = undefined;
    });
    return opening;
  };
  return {
    ...readsOf(async (query) => (await client()).query(statement(query))),
    close: async () => {
      closed = true;
      await Promise.allSettled(slots.splice(0).map(async (opening) => opening && endClient(await opening)));
    },
  };
}
