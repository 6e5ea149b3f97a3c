import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/assertions.ts';
import { caller, keyHeaders, type Send, send } from '../support/client.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let baseUrl: string;
let call: ReturnType<typeof caller>;
beforeAll(async () => {
  service = await TestService.shared();
  baseUrl = service.server.credentials.baseUrl;
  call = caller(service.server);
});
afterAll(() => service.stop());

type Keys = Pick<TestService['server']['credentials'], 'publicKey' | 'secretKey'>;

const CHECK = '/skus/pase-recarga/check-reference';
const post = (options: Send) => call(CHECK, { method: 'POST', ...options });
const MEBIBYTE = 1024 * 1024;

/** A success, and refusals of every layer. */
const kinds: [string, (headers?: Record<string, string>) => Promise<Awaited<ReturnType<typeof send>>>][] = [
  ['a success', (headers = {}) => call('/skus?limit=1', { headers })],
  ['a 400', (headers = {}) => call('/skus?limit=0', { headers })],
  ['a 400 for bad JSON', (headers = {}) => post({ raw: '{', headers })],
  ['a 400 for a bad address', (headers = {}) => call('/skus/%ff', { headers })],
  ['a 400 for a long parameter', (headers = {}) => call(`/skus/${'x'.repeat(2000)}`, { headers })],
  ['a 401', (headers = {}) => send(`${baseUrl}/skus`, { headers })],
  ['a 404', (headers = {}) => call('/skus/nothing', { headers })],
  ['a 404 for an unknown route', (headers = {}) => call('/nothing', { headers })],
];

describe.each(kinds)('%s', (_, get) => {
  it('has a request id and tells browsers and caches what to do with it', async () => {
    const { headers } = await get();
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
  });

  it('can be read by a page of any origin', async () => {
    const { headers } = await get({ origin: 'https://shop.example' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const exposed = headers.get('access-control-expose-headers')?.split(/,\s*/) ?? [];
    const ours = ['x-request-id', 'retry-after', 'idempotency-replayed', 'ratelimit-limit', 'ratelimit-remaining'];
    expect(exposed).toEqual(expect.arrayContaining([...ours, 'ratelimit-reset']));
  });

  it('names no software and sets no cookie', async () => {
    const { headers } = await get();
    for (const name of ['server', 'x-powered-by', 'set-cookie']) expect(headers.get(name)).toBeNull();
  });
});

describe('a request id', () => {
  it.each(['abc', randomUUID(), 'A.b_c-9', 'x'.repeat(64)])('that is well-formed is given back: %s', async (id) => {
    expect((await call('/skus?limit=1', { headers: { 'x-request-id': id } })).headers.get('x-request-id')).toBe(id);
  });

  it.each(['x'.repeat(65), 'a b', 'a"b', '{}', 'é', '<script>', ''])('that is not is replaced: %s', async (id) => {
    const { headers } = await call('/skus?limit=1', { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  });

  it('is another one for every request', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => call('/skus?limit=1')));
    expect(new Set(replies.map(({ headers }) => headers.get('x-request-id'))).size).toBe(20);
  });
});

describe('the rate limit', () => {
  it('is told on every keyed answer, and on no other', async () => {
    const unrouted = ['/nothing', `/skus/${'x'.repeat(2000)}`, '/skus/%ff'];
    for (const path of ['/skus?limit=1', '/skus?limit=0', '/skus/nothing', '/sku-purchases/nothing', ...unrouted]) {
      const { headers } = await call(path);
      expect(headers.get('ratelimit-limit'), path).toBe('1000000');
      expect(Number(headers.get('ratelimit-remaining')), path).toBeGreaterThan(990_000);
      expect(Number(headers.get('ratelimit-reset')), path).toBeGreaterThanOrEqual(1);
      expect(Number(headers.get('ratelimit-reset')), path).toBeLessThanOrEqual(60);
    }
    for (const path of ['/skus', ...unrouted]) {
      expect((await send(baseUrl + path)).headers.has('ratelimit-limit'), path).toBe(false);
    }
  });

  it.each([
    ['the public key alone', ({ publicKey }: Keys) => ({ 'x-api-key': publicKey })],
    ['the secret key alone', ({ secretKey }: Keys) => ({ authorization: `Bearer ${secretKey}` })],
  ])('is told on an unknown path to %s', async (_, headersOf) => {
    const reply = await send(`${baseUrl}/nothing`, { headers: headersOf(service.server.credentials) });
    expectError(reply, 404, 'not_found');
    expect(reply.headers.get('ratelimit-limit')).toBe('1000000');
  });

  it('is not told on an unknown path to a wrong key', async () => {
    const reply = await send(`${baseUrl}/nothing`, { headers: { 'x-api-key': `pk_dev_${'a'.repeat(36)}` } });
    expectError(reply, 404, 'not_found');
    expect(reply.headers.has('ratelimit-limit')).toBe(false);
  });
});

describe('a browser', () => {
  it('may ask first, without credentials, and is allowed our methods and headers', async () => {
    const { status, headers } = await send(`${baseUrl}${CHECK}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-api-key,idempotency-key',
      },
    });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-methods')?.split(/,\s*/)).toEqual(['GET', 'POST', 'PATCH', 'DELETE']);
    const allowed = headers.get('access-control-allow-headers')?.split(/,\s*/) ?? [];
    expect(allowed).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'x-api-key', 'idempotency-key', 'x-request-id']),
    );
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });
});

describe('an address where nothing is', () => {
  it.each(['GET /nothing', 'GET /', 'POST /nothing', 'GET /SKUS'])('is 404 not_found: %s', async (line) => {
    const [method = '', path = ''] = line.split(' ');
    expectError(await call(path, { method }), 404, 'not_found');
  });

  it('is a page for a browser, outside the interface', async () => {
    const browser = { headers: { accept: 'text/html' } };
    const { status, headers } = await send(`${service.server.origin}/nothing`, browser);
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expectError(await send(`${baseUrl}/nothing`, browser), 404, 'not_found');
  });

  it('is 404 outside the interface too, with and without credentials', async () => {
    for (const path of ['/', '/v1', '/v2/skus', '/favicon.ico', '/.env', '//v1/skus', '/v1/../v1/nothing']) {
      expectError(await send(service.server.origin + path), 404, 'not_found');
    }
  });
});

describe('a method that an address does not take', () => {
  it.each([
    ['POST /skus', ['GET', 'HEAD']],
    ['PUT /skus', ['GET', 'HEAD']],
    ['DELETE /organization', ['GET', 'HEAD']],
    ['GET /gifts/claim/NAVIDAD/redeem', ['POST']],
    ['POST /gifts/gift_1', ['GET', 'HEAD', 'PATCH', 'DELETE']],
  ])('is 405 with those that it takes: %s', async (line, allowed) => {
    const [method = '', path = ''] = line.split(' ');
    const reply = await call(path, { method });
    expectError(reply, 405, 'method_not_allowed');
    expect(reply.headers.get('allow')?.split(', ').sort()).toEqual([...allowed].sort());
    expect(reply.headers.has('ratelimit-limit')).toBe(true);
  });
});

describe('an error', () => {
  it.each([
    ['/skus?limit=0', '#listSkus'],
    ['/skus/nothing', '#getSku'],
    ['/nothing', ''],
  ])('links to what the reference says of the operation: %s', async (path, fragment) => {
    const { headers } = await call(path);
    expect(headers.get('link')).toBe(`<${service.server.origin}/docs${fragment}>; rel="help"`);
  });

  it('names everything that is wrong with the request', async () => {
    const { body } = await call('/gifts', { method: 'POST', body: { amount: 'much', maxRedeems: 0 } });
    const { message } = body as { message: string };
    for (const field of ['body.name', 'body.amount', 'body.maxRedeems', 'body.startsAt'])
      expect(message).toContain(field);
  });
});

describe('keys in the wrong header', () => {
  const swapped = 'The public key (pk_…) goes into x-api-key, the secret key (sk_…) into Authorization: Bearer.';
  it.each([
    ['both', ({ publicKey, secretKey }: Keys) => [secretKey, publicKey], 'The keys are swapped.'],
    ['the secret key', ({ secretKey }: Keys) => [secretKey, secretKey], 'x-api-key has a secret key.'],
    ['the public key', ({ publicKey }: Keys) => [publicKey, publicKey], 'Authorization has a public key.'],
  ] as const)('are 401 with a message that says so and shows no key: %s', async (_, order, found) => {
    const { publicKey, secretKey } = service.server.credentials;
    const [key = '', bearer = ''] = order({ publicKey, secretKey });
    const headers = { 'x-api-key': key, authorization: `Bearer ${bearer}` };
    for (const path of ['/skus', '/gifts', '/config']) {
      const { status, body, text } = await send(baseUrl + path, { headers });
      expect([status, (body as { message: string }).message]).toEqual([401, `${found} ${swapped}`]);
      expect(text).not.toContain(publicKey);
      expect(text).not.toContain(secretKey);
    }
  });
});

describe('a body', () => {
  it.each(['{', 'nothing', '{"reference":}', "{'reference':'a'}", '\u0000', '{"reference":"a",}'])(
    'that is not JSON is 400: %j',
    async (raw) => {
      expectError(await post({ raw }), 400, 'invalid_request');
    },
  );

  it.each(['null', '5', '"text"', 'true', '[]', '[{"reference":"a"}]'])(
    'that is JSON but no object is 400: %s',
    async (raw) => {
      expectError(await post({ raw }), 400, 'invalid_request');
    },
  );

  it('that would reach into a prototype is 400', async () => {
    for (const raw of [
      '{"__proto__":{"a":1},"reference":"a"}',
      '{"constructor":{"prototype":{"a":1}},"reference":"a"}',
    ]) {
      expectError(await post({ raw }), 400, 'invalid_request');
    }
  });

  it('that is empty counts as none, with any content type', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-length': '0' }]) {
      const reply = await post({ headers });
      expectError(reply, 400, 'invalid_request');
      expect(reply.body).toMatchObject({ message: expect.stringContaining('body') });
    }
    expectError(
      await call('/gifts/gift_1', { method: 'DELETE', headers: { 'content-type': 'application/json' } }),
      404,
      'gift_not_found',
    );
  });

  it.each([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'json',
    '',
  ])('of another content type is 400: %s', async (type) => {
    expectError(await post({ raw: '{"reference":"a"}', headers: { 'content-type': type } }), 400, 'invalid_request');
  });

  it('of application/json with a charset is read', async () => {
    const reply = await post({
      raw: '{"reference":"a"}',
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
    expect(reply.status).toBe(200);
  });

  it('of one mebibyte is read, and one byte more is 400', async () => {
    const sized = (bytes: number) => `{"reference":"a","x":"${'x'.repeat(bytes - 24)}"}`;
    expect(sized(MEBIBYTE)).toHaveLength(MEBIBYTE);
    expect((await post({ raw: sized(MEBIBYTE) })).status).toBe(200);
    expectError(await post({ raw: sized(MEBIBYTE + 1) }), 400, 'invalid_request');
  });

  it('nested 32 levels deep is read, and one more is 400', async () => {
    const nested = (levels: number) => `{"reference":"a","x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect((await post({ raw: nested(32) })).status).toBe(200);
    expectError(await post({ raw: nested(33) }), 400, 'invalid_request');
    expectError(await post({ raw: nested(100_000) }), 400, 'invalid_request');
  });

  it('may have unknown fields, and the answer names them', async () => {
    const { status, headers } = await post({ body: { reference: 'a', colour: 'blue', size: 1 } });
    expect([status, headers.get('x-svc-ignored-fields')]).toEqual([200, 'colour, size']);
    expect((await post({ body: { reference: 'a' } })).headers.has('x-svc-ignored-fields')).toBe(false);
    expect((await post({ body: { referense: 'a' } })).headers.get('x-svc-ignored-fields')).toBe('referense');
  });

  it('is not read from a caller without credentials', async () => {
    const reply = await send(`${baseUrl}${CHECK}`, { method: 'POST', raw: '{' });
    expectError(reply, 401, 'missing_credentials');
  });
});

describe('an address', () => {
  it.each(['/skus/%', '/skus/%zz', '/skus/%ff', '/skus/%C3%28', '/skus/%E0%A4%A', '/skus/%c0%af'])(
    'that is not validly encoded is 400: %s',
    async (path) => expectError(await call(path), 400, 'invalid_request'),
  );

  it('with a NUL, or with a parameter that is too long, is 400', async () => {
    for (const id of ['%00', 'a%00b', 'x'.repeat(129), 'x'.repeat(1025), 'x'.repeat(8000)]) {
      expectError(await call(`/skus/${id}`), 400, 'invalid_request');
    }
  });
});

describe('HEAD', () => {
  it('answers like GET, without the body', async () => {
    const [head, get] = await Promise.all([call('/skus?limit=1', { method: 'HEAD' }), call('/skus?limit=1')]);
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    expect(head.headers.has('ratelimit-limit')).toBe(true);
  });

  it('needs the same credentials', async () => {
    expect((await send(`${baseUrl}/skus`, { method: 'HEAD' })).status).toBe(401);
    expect((await send(`${baseUrl}/skus`, { method: 'HEAD', headers: keyHeaders(service.server) })).status).toBe(200);
  });
});
