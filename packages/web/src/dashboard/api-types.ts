import type { AnswerOf, BodyOf, Endpoint, endpoints, ParamsOf, QueryOf } from '@svc/protocol';

type Endpoints = typeof endpoints;
type ByKey = { [K in keyof Endpoints as `${Endpoints[K]['method']} ${Endpoints[K]['path']}`]: Endpoints[K] };

/** `METHOD /path` of an endpoint. */
export type EndpointKey = keyof ByKey;
export type ReadKey = Extract<EndpointKey, `GET ${string}`>;
export type ChangeKey = Exclude<EndpointKey, ReadKey>;

type EndpointOf<K extends EndpointKey> = Extract<ByKey[K], Endpoint>;
type Field<Name extends string, T> = undefined extends T
  ? unknown
  : Record<string, never> extends T
    ? { readonly [N in Name]?: T }
    : { readonly [N in Name]: T };

/** `params`, `query` and `body`, as far as the endpoint has them. */
export type InputOf<K extends EndpointKey> = Field<'params', ParamsOf<EndpointOf<K>>> &
  Field<'query', QueryOf<EndpointOf<K>>> &
  Field<'body', BodyOf<EndpointOf<K>>>;

export type AnswerTo<K extends EndpointKey> = AnswerOf<EndpointOf<K>>;

/** A read with a cursor answers rows and where the next ones begin. */
export type ListKey = {
  [K in ReadKey]: AnswerTo<K> extends { data: readonly unknown[]; nextCursor: string | null } ? K : never;
}[ReadKey];
export type RowOf<K extends ReadKey> = AnswerTo<K> extends { data: readonly (infer Row)[] } ? Row : never;

/** The input may be left out where every field is optional. */
export type ArgsOf<K extends EndpointKey, More> =
  Record<string, never> extends InputOf<K> ? [input?: InputOf<K>, more?: More] : [input: InputOf<K>, more?: More];
