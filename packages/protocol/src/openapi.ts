import type { TSchema } from 'typebox';
import { type Access, type Endpoint, type ErrorUse, type Tag, takesIdempotencyKey } from './endpoint.ts';
import { allEndpoints } from './endpoints/index.ts';
import { catalogue, type ErrorCode } from './errors.ts';
import { exampleOf, type Schema, type Schemas } from './examples/example.ts';
import { ErrorBody } from './schemas/common.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Record<string, Json>;

const VERSION = '14.0.0';

/** In the order of the reference. */
const tags: Record<Tag, string> = {
  Wallets: 'Self-custodial Starknet accounts, created and upgraded without gas.',
  Transactions: 'Gasless execution of signed calls, and the history of what happened.',
  SKUs: 'The catalogue of services that can be bought.',
  'SKU purchases': 'Purchases that were paid on the chain.',
  Exchanges: 'What an amount in local currency is in dollars.',
  Gifts: 'Codes that an organisation creates and pays for with its credits.',
  Claims: 'What the holder of a gift code does, without any key.',
  Recipients: 'Wallets that gift codes make for recipients who have none, and how their owners sign in.',
  Organisation: 'Your organisation, its credits and what a client needs to know.',
  Settings: 'Keys, settings and services of an environment, and the log of their changes.',
  Members: 'People who sign in to the dashboard, their sessions and roles. A session is a cookie.',
  Treasuries: 'Accounts whose payments several people approve: proposals, signatures, execution.',
  Webhooks: 'Where events are sent, what was sent, and how to have it sent again.',
  Operator: 'For the operators of the deployment: organisations, accounts, what is stuck, jobs and health.',
};

const security: Record<Access, Json> = {
  both: [{ publicKey: [], bearer: [] }],
  secret: [{ publicKey: [], secretKey: [] }],
  either: [{ publicKey: [] }, { secretKey: [] }],
  public: [{ publicKey: [] }],
  none: [],
  'sign-in': [],
  recipient: [{ publicKey: [], recipientToken: [] }],
  session: [{ session: [] }],
  operator: [{ session: [] }, { operatorToken: [] }],
};

const securitySchemes: JsonObject = {
  publicKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'Your public key, `pk_dev_…` or `pk_prod_…`',
  },
  bearer: { type: 'http', scheme: 'bearer', description: "Your secret key on a server, or the user's JWT in an app" },
  secretKey: { type: 'http', scheme: 'bearer', description: 'Your secret key, `sk_dev_…` or `sk_prod_…`' },
  recipientToken: {
    type: 'http',
    scheme: 'bearer',
    description: "A recipient's token, `rut_…`, of POST /recipient/sign-in",
  },
  operatorToken: { type: 'http', scheme: 'bearer', description: 'OPERATOR_TOKEN of the deployment, `op_…`' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_session',
    description: 'A member who is signed in; the cookie is __Host-svc_session where the service is reached by https',
  },
};

/** OpenAPI 3.1, generated from the endpoints. */
export function openApiDocument(baseUrl: string): JsonObject {
  const components: JsonObject = {};
  const paths: Record<string, JsonObject> = {};
  for (const endpoint of allEndpoints) {
    const path = paths[endpoint.path] ?? {};
    path[endpoint.method.toLowerCase()] = operation(endpoint, components);
    paths[endpoint.path] = path;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc',
      version: VERSION,
      description: 'Self-custodial wallets, gasless payments and gift codes.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: components, securitySchemes },
  };
}

function operation(endpoint: Endpoint, components: JsonObject): JsonObject {
  const description = [
    endpoint.description,
    endpoint.planned && '**Not built yet:** answers 501 `not_implemented`.',
  ].filter((sentence) => typeof sentence === 'string');
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(description.length > 0 && { description: description.join('\n\n') }),
    security: security[endpoint.access],
    parameters: [
      ...parameters(endpoint.params, 'path', components),
      ...parameters(endpoint.query, 'query', components),
      ...(takesIdempotencyKey(endpoint) ? [idempotencyKey] : []),
      ...(endpoint.stream ? [lastEventId] : []),
    ],
    ...(endpoint.body && {
      requestBody: { required: needsBody(endpoint), content: json(endpoint.body, components) },
    }),
    responses: responses(endpoint, components),
  };
}

/** An absent body counts as an empty one, which suffices where no field is required; a PATCH must change something. */
function needsBody({ method, body }: Endpoint): boolean {
  const { required = [] } = (body ?? {}) as { required?: readonly string[] };
  return method === 'PATCH' || required.length > 0;
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key and body within 24 hours answer what the first request answered.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const lastEventId: Json = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'The last event that you have. EventSource sends it when it connects again.',
  schema: { type: 'string', pattern: '^evt_[0-9a-z]{1,26}$' },
};

function parameters(schema: TSchema | undefined, place: 'path' | 'query', components: JsonObject): Json[] {
  if (!schema) return [];
  const object = plain(schema) as { properties: Record<string, JsonObject>; required?: string[] };
  return Object.entries(object.properties).map(([name, property]) => {
    const { description, ...rest } = property;
    return {
      name,
      in: place,
      required: object.required?.includes(name) ?? false,
      ...(description !== undefined && { description }),
      schema: withReferences(rest, components),
    };
  });
}

function responses(endpoint: Endpoint, components: JsonObject): JsonObject {
  const answers: JsonObject = {};
  for (const [status, schema] of Object.entries(endpoint.answers)) {
    const content = json(schema, components, endpoint.stream ? 'text/event-stream' : undefined);
    answers[status] = { description: 'Success', content };
  }
  for (const [status, codes] of codesByStatus(endpoint)) {
    answers[status] = {
      description: codes.map((code) => `\`${code}\`: ${catalogue[code].message}`).join('\n\n'),
      content: json(ErrorBody, components),
    };
  }
  return answers;
}

const ofKeys: readonly ErrorCode[] = ['missing_credentials', 'invalid_api_key', 'rate_limited'];
const ofSessions: readonly ErrorCode[] = ['sign_in_required', 'invalid_session', 'rate_limited'];
const errorsOfAccess: Record<Access, readonly ErrorCode[]> = {
  both: [...ofKeys, 'invalid_token', 'identity_unavailable'],
  secret: [...ofKeys, 'secret_key_required'],
  either: [...ofKeys, 'secret_key_required'],
  public: [...ofKeys, 'invalid_token', 'identity_unavailable'],
  none: [],
  'sign-in': ['rate_limited'],
  recipient: [...ofKeys, 'invalid_token', 'recipient_required'],
  session: ofSessions,
  operator: [...ofSessions, 'operator_required', 'invalid_token'],
};

/** The errors that the endpoint names, and those of every endpoint of its kind. */
export function errorsOf(endpoint: Endpoint): readonly ErrorUse[] {
  const errors: ErrorUse[] = [...(endpoint.errors ?? [])];
  if (endpoint.params || endpoint.query || endpoint.body) errors.push('invalid_request');
  if (takesIdempotencyKey(endpoint)) errors.push('idempotency_key_reused', 'idempotency_key_in_progress');
  errors.push(...errorsOfAccess[endpoint.access]);
  const isForPages = ['sign-in', 'session', 'operator'].includes(endpoint.access);
  if (isForPages && endpoint.method !== 'GET') errors.push('origin_not_allowed');
  if (endpoint.role !== undefined && endpoint.access === 'session') errors.push('role_not_sufficient');
  errors.push('internal_error', 'service_unavailable');
  if (endpoint.planned) errors.push('not_implemented');
  return errors;
}

function codesByStatus(endpoint: Endpoint): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const use of errorsOf(endpoint)) {
    const { code, status } = typeof use === 'string' ? { code: use, status: catalogue[use].status } : use;
    const codes = byStatus.get(status) ?? [];
    if (!codes.includes(code)) byStatus.set(status, [...codes, code]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

function json(schema: TSchema, components: JsonObject, type = 'application/json'): Json {
  const described = withReferences(plain(schema), components);
  const example = exampleOf(described as Schema, components as unknown as Schemas) as Json;
  return { [type]: { schema: described, example } };
}

const plain = (schema: TSchema): Json => JSON.parse(JSON.stringify(schema)) as Json;

/** Schemas with a title become components. Numbers are doubles: without a format some generators take 32 bits, which round money. */
function withReferences(value: Json, components: JsonObject): Json {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, components));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withReferences(item, components)] as const);
  const schema = Object.fromEntries(entries);
  const { title } = schema;
  if (schema.type === 'number') schema.format ??= 'double';
  if (typeof title !== 'string' || !('type' in schema || 'anyOf' in schema)) return schema;
  components[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
}
