import type { IncomingHttpHeaders } from 'node:http';
import {
  type Access,
  type AnswerOf,
  ApiError,
  type BodyOf,
  type Endpoint,
  type Environment,
  type endpoints,
  type ParamsOf,
  type QueryOf,
  type Role,
  type StarknetAddress,
} from '@svc/protocol';
import { type Db, type Sql, sql } from '@svc/store';

type CallerOf<A extends Access> = A extends 'none' | 'sign-in'
  ? undefined
  : A extends 'session'
    ? MemberCaller
    : Caller;

export interface Call<E extends Endpoint> {
  readonly params: ParamsOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  readonly caller: CallerOf<E['access']>;
  readonly client: string;
  readonly proofOfWork?: string | undefined;
  readonly userAgent?: string | undefined;
  /** Where a stream is to continue. */
  readonly lastEventId?: string | undefined;
  /** Aborted when the connection or the answer ends. */
  readonly closed?: AbortSignal;
  /** For answers that take long: whether the same credentials would be admitted now. */
  isStillAllowed?(): Promise<boolean>;
  /** Whether the request names this machine and comes from it, through no proxy. */
  readonly isLocal?: boolean;
  /** Sets a cookie with the answer. A replayed answer sets none. */
  setCookie?(cookie: string): void;
  /** Set with an Idempotency-Key: the same for every repetition, and for no other request. */
  readonly requestKey: string | undefined;
  /** Runs the work and stores its answer for the Idempotency-Key in one transaction: a crash leaves both or neither. */
  transact(work: (tx: Db) => Promise<Answer<E>>): Promise<Answer<E>>;
}

export type Answer<E extends Endpoint> = E extends { readonly stream: true }
  ? Streamed
  : AnswerOf<E> | WithStatus<AnswerOf<E>>;

/** Sent as it comes. */
export class Streamed {
  readonly chunks: AsyncIterable<string>;

  constructor(chunks: AsyncIterable<string>) {
    this.chunks = chunks;
  }
}

export class WithStatus<T> {
  readonly status: number;
  readonly body: T;

  constructor(status: number, body: T) {
    this.status = status;
    this.body = body;
  }
}

export type Handler<E extends Endpoint> = (call: Call<E>) => Promise<Answer<E>> | Answer<E>;

type Endpoints = typeof endpoints;
type BuiltEndpoints = { [K in keyof Endpoints as Endpoints[K] extends { planned: true } ? never : K]: Endpoints[K] };

export type Handlers = { [K in keyof BuiltEndpoints]: Handler<BuiltEndpoints[K]> };

export interface Caller {
  readonly organizationId: string;
  readonly environment: Environment;
  /** The public key where it was sent, else the secret key; of a member `member:<id>`. */
  readonly keyId: string;
  readonly secretKeyId?: string | undefined;
  readonly apiPublicKey: string | undefined;
  readonly proof: 'public key' | 'secret key' | 'user token';
  /** Set for a user's token: the caller sees this user's data only. */
  readonly externalUserId: string | undefined;
  /** Set for a recipient's token: the only wallet that it reaches. */
  readonly walletAddress?: StarknetAddress;
  /** Set for a session, which counts as the secret key. */
  readonly member?: Member;
}

export interface Member {
  /** Of the membership; null for an operator without an organisation. */
  readonly id: string | null;
  readonly personId: string;
  readonly sessionId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role | null;
  readonly isOperator: boolean;
  readonly expiresAt: Date;
}

export interface MemberCaller extends Caller {
  readonly member: Member;
}

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 10;

export interface PageQuery {
  readonly page?: number;
  readonly limit?: number;
  readonly offset?: number;
}

export interface PageOf<T> {
  data: T[];
  total: number;
  page: number;
  limit: number;
  totalPages: number;
}

export function readPage(query: PageQuery): { limit: number; offset: number } {
  const limit = Math.min(MAX_LIMIT, query.limit ?? DEFAULT_LIMIT);
  return { limit, offset: query.offset ?? ((query.page ?? 1) - 1) * limit };
}

export function toPage<T>(data: T[], total: number, { limit, offset }: { limit: number; offset: number }): PageOf<T> {
  return { data, total, page: Math.floor(offset / limit) + 1, limit, totalPages: Math.ceil(total / limit) };
}

const DEFAULT_CURSOR_LIMIT = 25;

export interface CursorQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

/** Where a list goes on: behind this row. Microseconds, as a Date is less exact than the database. */
export interface Place {
  readonly micros: bigint;
  readonly id: string;
}

export interface CursorPageOf<T> {
  data: T[];
  nextCursor: string | null;
}

const CURSOR = /^(\d{1,16}) ([\x21-\x7e]{1,128})$/;
const ANY_ID = /./;

export function readCursor(
  { limit, cursor }: CursorQuery,
  idForm: RegExp = ANY_ID,
): { limit: number; after: Place | undefined } {
  const bounded = Math.min(MAX_LIMIT, limit ?? DEFAULT_CURSOR_LIMIT);
  if (cursor === undefined) return { limit: bounded, after: undefined };
  const [, micros, id] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (micros === undefined || id === undefined || !idForm.test(id)) {
    throw new ApiError('invalid_request', 'query.cursor must be the nextCursor of the page before.');
  }
  return { limit: bounded, after: { micros: BigInt(micros), id } };
}

/** Of a query that asks for `limit + 1` rows: one more than fits says that the list goes on. */
export function toCursorPage<R extends Place, T>(
  rows: readonly R[],
  limit: number,
  toItem: (row: R) => T,
): CursorPageOf<T> {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { data: shown.map(toItem), nextCursor: last ? toCursor(last) : null };
}

const toCursor = ({ micros, id }: Place) => Buffer.from(`${micros} ${id}`, 'latin1').toString('base64url');

/** The time of a row for its cursor: `select ${microsOf(sql`created_at`)} as micros`. */
export const microsOf = (column: Sql): Sql => sql`(extract(epoch from ${column}) * 1000000)::bigint`;

/** `and (created_at, id) < …` for a list that is ordered by both, newest first. */
export const olderThan = (after: Place | undefined, time: Sql, id: Sql): Sql =>
  after === undefined
    ? sql``
    : sql`and (${time}, ${id}) < ('epoch'::timestamptz + ${after.micros}::bigint * interval '1 microsecond', ${after.id})`;

/** Records name a public key: the one that was sent, or the newest one of a member's environment. */
export function publicKeyOf({ apiPublicKey }: Caller): string {
  if (apiPublicKey === undefined) throw new ApiError('public_key_required');
  return apiPublicKey;
}

/** What of an endpoint decides who may call it. */
export type Guard = Pick<Endpoint, 'access' | 'method' | 'role'> & Partial<Pick<Endpoint, 'operationId'>>;

/** What of a request tells who sends it. */
export interface Credentialed {
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
  /** The connection; most carry the requests of one caller. */
  readonly socket: object;
}

export type Authenticate = (guard: Guard, request: Credentialed) => Promise<Caller | undefined>;
