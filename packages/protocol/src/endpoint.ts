import type { Static, TSchema } from 'typebox';
import type { Environment, Role } from './enums.ts';
import type { ErrorCode } from './errors.ts';

/**
 * Which credentials an endpoint wants.
 * - `both`: the public key and, as bearer, a secret key or a user's token
 * - `secret`: the public key and a secret key
 * - `either`: the public key or a secret key, never a user's token
 * - `public`: the public key is enough
 * - `none`: nothing
 * - `sign-in`: nothing, and only from a page of this service
 * - `recipient`: the public key and the token of a recipient, who signed in at this service
 * - `session`: a member who is signed in, never a key
 * - `operator`: a signed-in person who operates the deployment, or OPERATOR_TOKEN as bearer
 *
 * A member's session counts as the secret key at `both`, `secret`, `either` and `public`, for what its role allows.
 */
export type Access =
  | 'both'
  | 'secret'
  | 'either'
  | 'public'
  | 'none'
  | 'sign-in'
  | 'recipient'
  | 'session'
  | 'operator';

// biome-ignore format: one line a row
export type Tag =
  | 'Wallets' | 'Transactions' | 'SKUs' | 'SKU purchases' | 'Exchanges' | 'Gifts' | 'Claims' | 'Organisation'
  | 'Settings' | 'Webhooks' | 'Members' | 'Operator' | 'Recipients' | 'Treasuries';

/** Keys to live money, for one, are made and revoked by owners. */
export type RoleRule = Role | Readonly<Record<Environment, Role>>;

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
  /** The least role of a member who may call it, where it differs from the rule of `requiredRole`. */
  readonly role?: RoleRule;
  /** Answers 501 until it is built. */
  readonly planned?: true;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Answer fields that are null when an Idempotency-Key repeats the request. */
  readonly shownOnce?: readonly string[];
  /** The answer sets a cookie, which no repetition may have: an Idempotency-Key is ignored. */
  readonly startsSession?: true;
  /** Server-sent events: the answer's schema describes the text of one. */
  readonly stream?: true;
  /** Success answers by status. */
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly errors?: readonly ErrorUse[];
}

export const endpoint = <const E extends Endpoint>(definition: E): E => definition;

export const takesIdempotencyKey = ({ method, startsSession }: Endpoint): boolean =>
  method === 'POST' && startsSession === undefined;

type StaticOf<S> = S extends TSchema ? Static<S> : undefined;
export type ParamsOf<E extends Endpoint> = StaticOf<E['params']>;
export type QueryOf<E extends Endpoint> = StaticOf<E['query']>;
export type BodyOf<E extends Endpoint> = StaticOf<E['body']>;
export type AnswerOf<E extends Endpoint> = Static<E['answers'][keyof E['answers']] & TSchema>;
