import { catalogue, type Endpoint, type ErrorCode, type ErrorUse, errorsOf } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAnswer, expectError } from '../support/answers.ts';
import { keyHeaders, type Reply, send, userToken } from '../support/client.ts';
import {
  badExampleOf,
  builtEndpoints,
  type Example,
  exampleOf,
  plannedEndpoints,
  sendExample,
} from '../support/examples.ts';
import { changeSettings, newKeys, newOrganization } from '../support/organizations.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let baseUrl: string;
let keys: Record<string, string>;
/** Headers whose right hand is wrong in the way that the name says. */
let headers: Record<'forged' | 'token' | 'badToken' | 'unreadable', Record<string, string>>;
/** A process where the key has no request left, and the base address of it. */
let exhaustedUrl: string;
let document: { paths: Record<string, Record<string, { description?: string; responses: Record<string, unknown> }>> };

beforeAll(async () => {
  service = await startService({ ALLOW_LOOPBACK_URLS: 'on' });
  const { server, database } = service;
  baseUrl = server.credentials.baseUrl;
  keys = keyHeaders(server);
  const { publicKey } = server.credentials;
  const unreadable = await newOrganization(database.db, 'No key set');
  const { publicKey: unreadableKey } = await newKeys(database.db, unreadable, 'development');
  // Port 9 discards; nothing listens there.
  await changeSettings(database.db, unreadable, 'development', { jwks_url: 'http://127.0.0.1:9/jwks.json' });
  const token = await userToken(server, 'user-1');
  headers = {
    forged: { 'x-api-key': `pk_dev_${'a'.repeat(36)}`, authorization: `Bearer sk_dev_${'a'.repeat(36)}` },
    token: { 'x-api-key': publicKey, authorization: `Bearer ${token}` },
    badToken: { 'x-api-key': publicKey, authorization: `Bearer ${token.slice(0, -8)}AAAAAAAA` },
    unreadable: { 'x-api-key': unreadableKey, authorization: `Bearer ${token}` },
  };
  exhaustedUrl = (await service.another({ RATE_LIMIT_PER_MINUTE: '1' })).credentials.baseUrl;
  await send(`${exhaustedUrl}/organization`, { headers: keys });
  document = (await send(`${baseUrl}/openapi.json`)).body as typeof document;
});
afterAll(() => service.stop());

type Provoke = (endpoint: Endpoint) => Promise<Reply>;
const withExample =
  (example: Example): Provoke =>
  (endpoint) =>
    sendExample(baseUrl, endpoint, keys, example);

/** How to get each refusal out of an endpoint that names it. */
const provoke: Partial<Record<ErrorCode, Provoke>> = {
  invalid_request: (endpoint) => sendExample(baseUrl, endpoint, keys, badExampleOf(endpoint)),
  missing_credentials: (endpoint) => sendExample(baseUrl, endpoint, {}),
  invalid_api_key: (endpoint) => sendExample(baseUrl, endpoint, headers.forged),
  invalid_token: (endpoint) => sendExample(baseUrl, endpoint, headers.badToken),
  secret_key_required: (endpoint) => sendExample(baseUrl, endpoint, headers.token),
  identity_unavailable: (endpoint) => sendExample(baseUrl, endpoint, headers.unreadable),
  rate_limited: (endpoint) => sendExample(exhaustedUrl, endpoint, keys),
  not_implemented: (endpoint) => sendExample(baseUrl, endpoint, keys),
  sku_not_found: (endpoint) => withExample({ ...exampleOf(endpoint), params: { id: 'nothing' } })(endpoint),
  reference_check_unavailable: (endpoint) =>
    withExample({ ...exampleOf(endpoint), params: { id: 'viapass-recarga' } })(endpoint),
  idempotency_key_reused: async (endpoint) => {
    const keyed = { ...keys, 'idempotency-key': `reused ${endpoint.operationId}` };
    await sendExample(baseUrl, endpoint, keyed);
    return sendExample(baseUrl, endpoint, keyed, { ...exampleOf(endpoint), body: { reference: 'another' } });
  },
};

/** Refusals that no request brings about by itself: a fault of ours, a rate source that is down, a request that hangs. */
const NOT_FROM_OUTSIDE: readonly ErrorCode[] = ['internal_error', 'rate_unavailable', 'idempotency_key_in_progress'];
/** Refusals that every endpoint shares; the others of a planned endpoint come with its building. */
const SHARED: readonly ErrorCode[] = [
  'missing_credentials',
  'invalid_api_key',
  'invalid_token',
  'secret_key_required',
  'identity_unavailable',
  'rate_limited',
  'not_implemented',
  'invalid_request',
];

const codeOf = (use: ErrorUse) => (typeof use === 'string' ? { code: use, status: catalogue[use].status } : use);

/** Claim endpoints are throttled by address once they are built. */
const applies = (endpoint: Endpoint, code: ErrorCode) => !(endpoint.access === 'none' && code === 'rate_limited');

function refusalsOf(endpoint: Endpoint): { code: ErrorCode; status: number }[] {
  const all = errorsOf(endpoint).map(codeOf);
  const unique = all.filter(({ code }, index) => all.findIndex((other) => other.code === code) === index);
  const wanted = endpoint.planned
    ? unique.filter(({ code }) => SHARED.includes(code) && applies(endpoint, code))
    : unique;
  return wanted.filter(({ code }) => !NOT_FROM_OUTSIDE.includes(code));
}

async function expectRefusal(endpoint: Endpoint, status: number, code: ErrorCode): Promise<void> {
  const reply = await provoke[code]?.(endpoint);
  if (!reply) throw new Error(`Nothing here provokes ${code}`);
  expectError(reply, status, code);
}

const named = (list: readonly Endpoint[]) =>
  list.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

describe.each(named(builtEndpoints))('%s', (_, endpoint) => {
  it('answers 200 as its schema says', async () => {
    const reply = await sendExample(baseUrl, endpoint, keys);
    expectAnswer(reply, endpoint);
    expect(reply.status).toBe(200);
  });

  it.each(refusalsOf(endpoint))('answers $status $code', ({ status, code }) => expectRefusal(endpoint, status, code));
});

describe.each(named(plannedEndpoints))('%s, not built yet,', (_, endpoint) => {
  it.each(refusalsOf(endpoint))('answers $status $code', ({ status, code }) => expectRefusal(endpoint, status, code));

  it('says so in the description of the interface', () => {
    const operation = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()];
    expect(operation?.responses).toHaveProperty('501');
    expect(operation?.description).toContain('not_implemented');
  });
});
