// Types of the schema library that the interface's declarations use, so that the package does not depend on it.
// tests/sdk/published.test.ts checks that both are equal for every endpoint.
export * as Type from './schema-types.js';

export interface TSchema<T = unknown> {
  readonly static: T;
}
export type Static<S> = S extends TSchema<infer T> ? T : never;

export type TString = TSchema<string>;
export type TNumber = TSchema<number>;
export type TInteger = TSchema<number>;
export type TBoolean = TSchema<boolean>;
export type TNull = TSchema<null>;
export type TUnknown = TSchema<unknown>;
export type TLiteral<T> = TSchema<T>;
export type TUnsafe<T> = TSchema<T>;
export type TArray<S> = TSchema<Static<S>[]>;
export type TRecord<_Key, S> = TSchema<Record<string, Static<S>>>;
export type TUnion<S extends readonly unknown[]> = TSchema<Static<S[number]>>;
export type TObject<P = unknown> = TSchema<ObjectOf<P>>;
export type TOptional<S> = S & { readonly optional: true };

type OptionalNames<P> = { [K in keyof P]: P[K] extends { readonly optional: true } ? K : never }[keyof P];
type Plain<T> = { [K in keyof T]: T[K] };
type ObjectOf<P> = Plain<
  { [K in Exclude<keyof P, OptionalNames<P>>]: Static<P[K]> } & { [K in OptionalNames<P>]?: Static<P[K]> }
>;
