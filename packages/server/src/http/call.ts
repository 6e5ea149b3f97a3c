import type { IncomingHttpHeaders } from 'node:http';
import type { Access, AnswerOf, BodyOf, Endpoint, Environment, endpoints, ParamsOf, QueryOf } from '@svc/protocol';
import type { Db } from '@svc/store';

type CallerOf<A extends Access> = A extends 'none' ? undefined : Caller;

/** One validated, authenticated request to an endpoint, as its handler sees it. */
export interface Call<E extends Endpoint> {
  readonly params: ParamsOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  readonly caller: CallerOf<E['access']>;
  /** Where the request comes from, as limits count it. */
  readonly client: string;
  /** The same for every repetition of a request with an Idempotency-Key, and for no other request. */
  readonly requestKey: string | undefined;
  /**
   * Runs the work in one database transaction whose result is the answer. With an Idempotency-Key the answer is stored
   * in that same transaction: a crash before the commit leaves nothing, a crash after it replays the answer.
   */
  transact(work: (tx: Db) => Promise<Answer<E>>): Promise<Answer<E>>;
}

/** A body, with a status where the endpoint has several successes. */
export type Answer<E extends Endpoint> = AnswerOf<E> | WithStatus<AnswerOf<E>>;

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
type Built = { [K in keyof Endpoints as Endpoints[K] extends { planned: true } ? never : K]: Endpoints[K] };

/** A handler for every endpoint that is not planned: the compiler tells which is missing. */
export type Handlers = { [K in keyof Built]: Handler<Built[K]> };

/** Who a request comes from, as far as its credentials prove. */
export interface Caller {
  readonly organizationId: string;
  readonly environment: Environment;
  /** The key that the rate limit counts: the public one where it was sent, else the secret one. */
  readonly keyId: string;
  /** The secret key, where one was sent. */
  readonly secretKeyId?: string | undefined;
  /** As sent in x-api-key. */
  readonly apiPublicKey: string | undefined;
  readonly proof: 'public key' | 'secret key' | 'user token';
  /** Set for a user's token: everything the caller may touch belongs to this user. */
  readonly externalUserId: string | undefined;
}

/** More than this at once is counted as this. */
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

/** Which rows a query for a page means. An offset wins over a page number. */
export function readPage(query: PageQuery): { limit: number; offset: number } {
  const limit = Math.min(MAX_LIMIT, query.limit ?? DEFAULT_LIMIT);
  return { limit, offset: query.offset ?? ((query.page ?? 1) - 1) * limit };
}

export function toPage<T>(data: T[], total: number, { limit, offset }: { limit: number; offset: number }): PageOf<T> {
  return { data, total, page: Math.floor(offset / limit) + 1, limit, totalPages: Math.ceil(total / limit) };
}

/** The key that records name as theirs. Endpoints that record something let nobody in without it. */
export function publicKeyOf({ apiPublicKey }: Caller): string {
  if (apiPublicKey === undefined) throw new Error('A record needs the public key of its caller.');
  return apiPublicKey;
}

/** Who is calling, `undefined` where the endpoint needs no credentials; throws the 401 to answer with. */
export type Authenticate = (access: Access, headers: IncomingHttpHeaders) => Promise<Caller | undefined>;
