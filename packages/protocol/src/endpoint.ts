import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from './errors.ts';

/**
 * Which credentials an endpoint wants.
 * - `both`: the public key and, as bearer, a secret key or a user's token
 * - `secret`: the public key and a secret key
 * - `either`: the public key or a secret key, never a user's token
 * - `public`: the public key is enough
 * - `none`: nothing
 */
export type Access = 'both' | 'secret' | 'either' | 'public' | 'none';

// biome-ignore format: one line a row
export type Tag =
  | 'Wallets' | 'Transactions' | 'SKUs' | 'SKU purchases' | 'Exchanges' | 'Gifts' | 'Claims' | 'Organisation'
  | 'Settings' | 'Webhooks';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** By code, with the catalogue's status or another one. */
export type ErrorUse = ErrorCode | { readonly code: ErrorCode; readonly status: number };

/** One endpoint. The server registers and validates it, the OpenAPI document describes it and the client types it. */
export interface Endpoint {
  readonly operationId: string;
  readonly method: Method;
  /** Below the base address, with `{name}` for parameters. */
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** Answers 501 until it is built. */
  readonly planned?: true;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Answer fields that are null when an Idempotency-Key repeats the request. */
  readonly shownOnce?: readonly string[];
  /** Success answers by status. */
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly errors?: readonly ErrorUse[];
}

export const endpoint = <const E extends Endpoint>(definition: E): E => definition;

type StaticOf<S> = S extends TSchema ? Static<S> : undefined;
export type ParamsOf<E extends Endpoint> = StaticOf<E['params']>;
export type QueryOf<E extends Endpoint> = StaticOf<E['query']>;
export type BodyOf<E extends Endpoint> = StaticOf<E['body']>;
export type AnswerOf<E extends Endpoint> = Static<E['answers'][keyof E['answers']] & TSchema>;
