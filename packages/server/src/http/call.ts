import type { Access, AnswerOf, BodyOf, Endpoint, endpoints, ParamsOf, QueryOf } from '@svc/protocol';
import type { Db } from '@svc/store';
import type { Caller } from './caller.ts';

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
