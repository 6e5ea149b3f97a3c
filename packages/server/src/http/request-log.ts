import type { AnswerOf, endpoints, QueryOf } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { createWakeup } from '../util/wakeup.ts';
import { type Caller, microsOf, olderThan, readCursor, toCursorPage } from './call.ts';

/** Together at most 1,000 rows a second, a few hundredths of a core: the log of a flood must not slow its requests. */
const WRITE_EVERY_MS = 500;
const ROWS_A_STATEMENT = 500;
/** About a megabyte. A flood of requests, and a slow database, lose rows, not memory. */
const MAX_WAITING = 2_000;
const KEPT_DAYS = 7;
const DELETED_AT_ONCE = 5_000;
const MAX_IGNORED_FIELDS = 20;
const FIELD_NAME = /^[\w.[\]-]{1,64}$/;

interface Entry {
  readonly at: Date;
  readonly caller: Caller;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly errorCode: string | undefined;
  readonly ignoredFields: readonly string[];
}

/** The requests of an organisation, for its own eyes. Kept in memory until they are written: a kill loses those. */
export class RequestLog {
  readonly #db: Db;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #wakeup = createWakeup();
  readonly #running: Promise<void>;
  #waiting: Entry[] = [];
  #stopped = false;
  dropped = 0;

  /** Start it outside of any request: its statements count for no tenant. */
  constructor(db: Db, log: Pick<Logger, 'warn'>) {
    this.#db = db;
    this.#log = log;
    this.#running = this.#run();
  }

  /** `entry` is called where there is room for it. */
  add(entry: () => Entry): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.dropped += 1;
      return;
    }
    this.#waiting.push(entry());
  }

  /** Writes what waits. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wakeup.notify();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#wakeup.wait(WRITE_EVERY_MS);
      await this.#write();
    }
    while (this.#waiting.length > 0) await this.#write();
  }

  async #write(): Promise<void> {
    const some = this.#waiting.splice(0, ROWS_A_STATEMENT);
    if (some.length === 0) return;
    try {
      await insertRequests(this.#db, some);
    } catch (error) {
      // Not written again: a request is not worth holding back the next ones.
      this.dropped += some.length;
      this.#log.warn({ err: error, requests: some.length }, 'request log not written');
    }
  }
}

async function insertRequests(db: Db, entries: readonly Entry[]): Promise<void> {
  const of = <T>(field: (entry: Entry) => T) => entries.map(field);
  await db.run(sql`
    insert into request_log (at, organization_id, environment, request_id, method, path, status, duration_ms, error_code, actor,
      ignored_fields)
    select at, organization_id, environment, request_id, method, path, status, duration_ms, error_code, actor,
           string_to_array(ignored, ' ')
      from unnest(
        ${of(({ at }) => at)}::timestamptz[], ${of(({ caller }) => caller.organizationId)}::text[],
        ${of(({ caller }) => caller.environment)}::text[], ${of(({ requestId }) => requestId)}::text[],
        ${of(({ method }) => method)}::text[], ${of(({ path }) => path)}::text[],
        ${of(({ status }) => status)}::smallint[], ${of(({ ms }) => ms)}::real[],
        ${of(({ errorCode }) => errorCode ?? null)}::text[], ${of(({ caller }) => actorOf(caller))}::text[],
        ${of(({ ignoredFields }) => (ignoredFields.length === 0 ? null : ignoredFields.join(' ')))}::text[]
      ) as given (at, organization_id, environment, request_id, method, path, status, duration_ms, error_code, actor, ignored)`);
}

const actorOf = ({ secretKeyId, keyId }: Caller) => secretKeyId ?? keyId;

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the error that was answered. */
    errorCode: string | undefined;
  }
}

/** For requests below `/v1` with a valid key. */
export function writeRequestLog(v1: FastifyInstance, requestLog: RequestLog | undefined): void {
  v1.decorateRequest('errorCode', undefined);
  if (!requestLog) return;
  v1.addHook('onResponse', (request, reply, done) => {
    const { caller } = request;
    if (caller && isLogged(caller, request.method)) requestLog.add(() => entryOf(request, reply, caller));
    done();
  });
}

/** Without what a member reads: an open page of the dashboard asks every few seconds. */
function isLogged({ organizationId, member }: Caller, method: string): boolean {
  return organizationId !== '' && (member === undefined || method !== 'GET');
}

function entryOf(request: FastifyRequest, reply: FastifyReply, caller: Caller): Entry {
  return {
    at: new Date(),
    caller,
    requestId: request.id,
    method: request.method,
    path: patternOf(request.routeOptions.url ?? 'unknown'),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    errorCode: request.errorCode,
    ignoredFields: readIgnored(reply.getHeader('x-svc-ignored-fields')),
  };
}

const patterns = new Map<string, string>();

/** `/v1/gifts/:id` is `/gifts/{id}` in the interface. There are as many as routes. */
function patternOf(route: string): string {
  const known = patterns.get(route);
  if (known !== undefined) return known;
  const pattern = route.replace(/^\/v1/, '').replace(/:(\w+)/g, '{$1}');
  patterns.set(route, pattern);
  return pattern;
}

/** Names that look like values are left out. */
function readIgnored(header: unknown): string[] {
  if (typeof header !== 'string' || header === '') return [];
  const names = header.split(',').map((name) => name.trim());
  return names.filter((name) => FIELD_NAME.test(name)).slice(0, MAX_IGNORED_FIELDS);
}

interface Row {
  readonly id: bigint;
  readonly micros: bigint;
  readonly at: Date;
  readonly request_id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly duration_ms: number;
  readonly error_code: string | null;
  readonly actor: string;
  readonly ignored_fields: string[] | null;
}

type Endpoint = typeof endpoints.listRequests;
type Item = AnswerOf<Endpoint>['data'][number];

export async function listRequests(
  reads: Reads,
  caller: Caller,
  query: QueryOf<Endpoint>,
): Promise<AnswerOf<Endpoint>> {
  const { limit, after } = readCursor(query, /^\d{1,18}$/);
  const { status, method, path, errorCode, requestId } = query;
  const filters = [
    status === undefined
      ? sql``
      : sql`and status between ${Number(status[0]) * 100} and ${Number(status[0]) * 100 + 99}`,
    method === undefined ? sql`` : sql`and method = ${method}`,
    path === undefined ? sql`` : sql`and path = ${path}`,
    errorCode === undefined ? sql`` : sql`and error_code = ${errorCode}`,
    requestId === undefined ? sql`` : sql`and request_id = ${requestId}`,
    sql`and at > now() - make_interval(days => ${KEPT_DAYS})`,
    olderThan(after, sql`at`, sql`id`),
  ].reduce((all, filter) => sql`${all} ${filter}`);
  const rows = await reads.rows<Row>(
    sql`
      select id, ${microsOf(sql`at`)} as micros, at, request_id, method, path, status, duration_ms, error_code, actor, ignored_fields
        from request_log
       where organization_id = ${caller.organizationId} and environment = ${caller.environment} ${filters}
       order by at desc, id desc limit ${limit + 1}`.unnamed,
  );
  return toCursorPage(
    rows.map((row) => ({ ...row, id: String(row.id) })),
    limit,
    toItem,
  );
}

function toItem(row: Omit<Row, 'id'> & { id: string }): Item {
  return {
    id: row.id,
    at: row.at.toISOString(),
    method: row.method,
    path: row.path,
    status: row.status,
    durationMs: Math.round(row.duration_ms * 10) / 10,
    requestId: row.request_id,
    errorCode: row.error_code,
    actor: row.actor,
    ignoredFields: row.ignored_fields ?? [],
  };
}

/** Rows that are too old, and those above the number that an environment may keep. Bounded batches, so that no lock is held for long. */
export async function deleteOldRequests(db: Db, rowsKept: number, signal: AbortSignal): Promise<void> {
  await deleteBatches(db, signal, sql`at < now() - make_interval(days => ${KEPT_DAYS})`);
  const full = await db.rows<{ organization_id: string; environment: string; at: string }>(sql`
    select organization_id, environment, at from environments cross join lateral (
      select at::text as at from request_log
       where request_log.organization_id = environments.organization_id
         and request_log.environment = environments.environment
       order by request_log.at desc, request_log.id desc offset ${rowsKept} limit 1
    ) oldest`);
  for (const { organization_id, environment, at } of full) {
    const own = sql`organization_id = ${organization_id} and environment = ${environment}`;
    await deleteBatches(db, signal, sql`${own} and at <= ${at}::timestamptz`);
  }
}

async function deleteBatches(db: Db, signal: AbortSignal, which: Sql): Promise<void> {
  let deleted = DELETED_AT_ONCE;
  while (deleted === DELETED_AT_ONCE && !signal.aborted) {
    deleted = await db.run(sql`
      delete from request_log where ctid = any (array(select ctid from request_log where ${which} limit ${DELETED_AT_ONCE}))`);
  }
}
