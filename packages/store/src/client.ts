import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { connectionTo } from './hosts.ts';

/** Statements are sent without waiting for earlier answers. Missing in the driver's types. */
export const PIPELINE: object = { pipeline: true };

export const STATEMENT_TIMEOUT_MS = 30_000;
/** Covers reaching the server and waiting for a free connection of a pool. */
export const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_MARGIN_MS = 5_000;
const CLOSE_TIMEOUT_MS = 1_000;

/** Longer than the server's own limit: fires only when the server or the network is silent. */
export const answerTimeoutMs = (statementTimeoutMs: number): number => statementTimeoutMs + ANSWER_MARGIN_MS;

const TEXT_ARRAY: number = 1009;
const INT8_ARRAY = 1016;
const NUMERIC_ARRAY = 1231;

type Parser = (text: string) => unknown;
const textArray: (text: string) => (string | null)[] = pg.types.getTypeParser(TEXT_ARRAY);

// Exact values where the driver would round (int8[], numeric[]) or guess a time zone (date).
const parsers = new Map<number, Parser>([
  [pg.types.builtins.INT8, BigInt],
  [INT8_ARRAY, (text) => textArray(text).map((item) => (item === null ? null : BigInt(item)))],
  [NUMERIC_ARRAY, textArray],
  [pg.types.builtins.DATE, String],
]);

/** For our connections only; other libraries use the driver's global table. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(id)) || pg.types.getTypeParser(id, format),
};

/**
 * PostgreSQL counts planning as the work of a thousand operators for each table. At its usual price it plans statements with
 * `= any (…)` again each time, which takes longer than to run them.
 */
export const PLANNED_ONCE = '-c cpu_operator_cost=0.05';

/** The same database with settings of the server for the connection. What the URL says itself counts more. */
export function withSettings(url: string, settings: string): string {
  if (settings === '') return url;
  // Not parsed as a whole: it may name several hosts.
  const start = url.indexOf('?');
  const place = start < 0 ? url : url.slice(0, start);
  const parameters = new URLSearchParams(start < 0 ? '' : url.slice(start));
  parameters.set('options', `${settings} ${parameters.get('options') ?? ''}`.trim());
  return `${place}?${parameters}`;
}

const held = new WeakSet<Writable>();

/** What is sent on this connection until `release` calls back reaches the server in one write. */
export function holdWrites(client: pg.ClientBase, release: (send: () => void) => void): void {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
  if (held.has(stream)) return;
  held.add(stream);
  stream.cork();
  release(() => {
    held.delete(stream);
    stream.uncork();
  });
}

/** A connection outside the pool: session locks and notifications live as long as it does. */
export async function connectClient(
  url: string,
  { options = '', ...settings }: pg.ClientConfig = {},
): Promise<pg.Client> {
  const { Client, connectionString } = connectionTo(url);
  const client = new Client({
    connectionString: withSettings(connectionString, options),
    application_name: 'svc',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types,
    ...settings,
  });
  // A lost connection rejects its queries and emits 'end'; an unhandled 'error' event would end the process.
  client.on('error', () => {});
  await client.connect();
  return client;
}

export async function withClient<T>(
  url: string,
  settings: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connectClient(url, settings);
  try {
    return await work(client);
  } finally {
    await endClient(client);
  }
}

export async function endClient(client: pg.Client): Promise<void> {
  await Promise.race([client.end(), pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
}

/** Session locks: they belong to the database of their connection and end with it. */
export type LockName = 'svc:migrate' | 'svc:embedded-owner' | 'svc:test-template';

export async function lock(client: pg.Client, name: LockName): Promise<void> {
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
}

export async function tryLock(client: pg.Client, name: LockName): Promise<boolean> {
  const answer = await client.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as locked', [name]);
  return answer.rows[0]?.locked === true;
}

const CONNECTION_CODES: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
];
/** Connection errors, no space or memory, the server stops or starts, a standby that takes no writes. */
const SERVER_STATES = /^(08|53|57P0)|^25006$/;
/** The driver has no codes for these. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error)/;

export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof pg.DatabaseError ? SERVER_STATES.test(code) : CONNECTION_CODES.includes(code)) return true;
  return DRIVER_MESSAGES.test(error.message);
}

// Lost connections (08, 28, 53, 57P, 58, XX, 25P03, 25P04) and stale prepared statements (0A000, 26000).
const NEEDS_NEW_CONNECTION = /^(08|28|53|57P|58|XX|25P03|25P04|0A000|26000)/;

/** After an error that the server did not report, such as a timeout, the state of the connection is unknown. */
export function breaksConnection(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || NEEDS_NEW_CONNECTION.test(error.code ?? '');
}
