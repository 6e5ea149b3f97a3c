import type { endpoints } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { failure, fakeClient, json, PUBLIC_KEY, refusal, SECRET_KEY, unreachable } from '../../testing/fake-client.ts';
import type { SvcError } from './errors.ts';
import { request } from './request.ts';

const sku = (client: ReturnType<typeof fakeClient>['client'], id: string) =>
  request<typeof endpoints.getSku>(client, { route: 'GET /skus/{id}', access: 'both', params: { id } });
const check = (client: ReturnType<typeof fakeClient>['client'], idempotencyKey?: string) =>
  request<typeof endpoints.checkSkuReference>(client, {
    route: 'POST /skus/{id}/check-reference',
    access: 'both',
    params: { id: 'one' },
    body: { reference: '1' },
    idempotencyKey,
  });

describe('a request', () => {
  it('encodes path parameters', async () => {
    const { client, sent } = fakeClient([json({})]);
    await sku(client, 'a/b?c#d%2e é');
    expect(sent[0]?.url).toBe('https://svc.example/v1/skus/a%2Fb%3Fc%23d%252e%20%C3%A9');
  });

  it.each(['', '.', '..'])('refuses "%s" as a path parameter', async (id) => {
    const { client, sent } = fakeClient([]);
    expect(await failure(sku(client, id))).toMatchObject({ code: 'invalid_input' });
    expect(sent).toEqual([]);
  });

  it('omits undefined query parameters', async () => {
    const { client, sent } = fakeClient([json({}), json({})]);
    const spec = { route: 'GET /skus', access: 'both' } as const;
    await request<typeof endpoints.listSkus>(client, { ...spec, query: { page: 2, category: undefined } });
    await request<typeof endpoints.listSkus>(client, { ...spec, query: { provider: undefined } });
    expect(sent.map(({ url }) => url)).toEqual(['https://svc.example/v1/skus?page=2', 'https://svc.example/v1/skus']);
  });

  it('has a JSON content type only with a body', async () => {
    const { client, sent } = fakeClient([json({}), json({})]);
    await sku(client, 'one');
    await check(client);
    expect(sent[0]?.headers).not.toHaveProperty('content-type');
    expect(sent[1]).toMatchObject({ headers: { 'content-type': 'application/json' }, body: { reference: '1' } });
  });
});

describe('an Idempotency-Key', () => {
  it('is sent with every POST: the same for retries, another for each call', async () => {
    const { client, sent } = fakeClient([unreachable, refusal(503), json({}), json({})]);
    await check(client);
    await check(client);
    const keys = sent.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(keys.slice(0, 3)).size).toBe(1);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it('is not sent with reads', async () => {
    const { client, sent } = fakeClient([json({})]);
    await sku(client, 'one');
    expect(sent[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  it("can be the caller's own if it is valid", async () => {
    const { client, sent } = fakeClient([json({})]);
    await check(client, 'order-17');
    expect(sent[0]?.headers['idempotency-key']).toBe('order-17');
    for (const key of ['', 'a\nb', 'é', 'x'.repeat(256)]) {
      expect(await failure(check(client, key))).toMatchObject({ code: 'invalid_input' });
    }
    expect(sent).toHaveLength(1);
  });
});

describe('errors', () => {
  it('never contain a key or a token', async () => {
    const token = 'eyJ.token-of-ana';
    const answers = [unreachable, refusal(401, 'invalid_token'), () => new Response('no'), refusal(500)];
    const errors = await Promise.all([
      ...answers.map((answer) => failure(sku(fakeClient([answer], { maxRetries: 0, bearerToken: token }).client, 'x'))),
      ...[`${token}\n`, `${token} `, `${token}é`].map((bearerToken) =>
        failure(sku(fakeClient([], { bearerToken, fetch }).client, 'x')),
      ),
      failure(sku(fakeClient([unreachable], { maxRetries: 0 }).client, 'x')),
    ]);
    for (const error of errors as SvcError[]) {
      const printed = [error, error.walk()].map(
        (one) => `${String(one)} ${(one as Error).stack} ${JSON.stringify(one)}`,
      );
      for (const secret of [token, SECRET_KEY, PUBLIC_KEY]) expect(printed.join()).not.toContain(secret);
    }
  });
});
