import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, Owner } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import { keyHeaders, type Reply, send, userToken } from '../support/client.ts';
import { Sandbox } from '../support/sandbox.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let keys: Record<string, string>;
beforeAll(async () => {
  service = await TestService.hosted();
  keys = keyHeaders(service.server);
});
afterAll(() => service.stop());

const VALID = { reference: 'IMDM28417936' };
const INVALID = { reference: 'nonsense' };
const CHECK = '/skus/pase-recarga/check-reference';

interface Keyed {
  readonly body?: unknown;
  readonly raw?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly baseUrl?: string;
}

function post(key: string, options: Keyed = {}): Promise<Reply> {
  const { path = CHECK, headers = keys, baseUrl = service.server.credentials.baseUrl, raw, body = VALID } = options;
  const keyed = { ...headers, 'idempotency-key': key };
  return send(baseUrl + path, { method: 'POST', headers: keyed, ...(raw === undefined ? { body } : { raw }) });
}

const isReplay = (reply: Reply) => reply.headers.get('idempotency-replayed') === 'true';
const newKey = () => randomUUID();

describe('an Idempotency-Key', () => {
  it('answers the same request with the first answer, and says so', async () => {
    const key = newKey();
    const first = await post(key);
    const second = await post(key);
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(first.headers.has('idempotency-replayed')).toBe(false);
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(second.body).toEqual({ valid: true });
  });

  it('takes the same body in another order and spacing for the same', async () => {
    const key = newKey();
    await post(key, { raw: '{"reference":"IMDM28417936","a":1}' });
    expect(isReplay(await post(key, { raw: '{ "a": 1, "reference": "IMDM28417936" }' }))).toBe(true);
  });

  it('is refused with another body, and with another path', async () => {
    const key = newKey();
    await post(key);
    expectError(await post(key, { body: INVALID }), 400, 'idempotency_key_reused');
    expectError(await post(key, { path: '/skus/televia-recarga/check-reference' }), 400, 'idempotency_key_reused');
    expect((await post(key)).body).toEqual({ valid: true });
  });

  it('keeps a refusal of the endpoint too', async () => {
    const key = newKey();
    const first = await post(key, { path: '/skus/nothing/check-reference' });
    const second = await post(key, { path: '/skus/nothing/check-reference' });
    expectError(first, 404, 'sku_not_found');
    expectError(second, 404, 'sku_not_found');
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
  });

  it('is not used up by a request that was refused at the door', async () => {
    const key = newKey();
    expectError(await post(key, { body: { reference: 5 } }), 400, 'invalid_request');
    expectError(await post(key, { headers: {} }), 401, 'missing_credentials');
    expect(isReplay(await post(key))).toBe(false);
  });

  it('is not used up while the chain does not answer', async () => {
    const key = newKey();
    const sandbox = new Sandbox(service.server);
    const wallet = { path: '/svc-wallets', body: await new App(service.server).creation(new Owner(), 'ana') };
    await sandbox.orderFault({ kind: 'unavailable', seconds: 60 });
    expectError(await post(key, wallet), 500, 'chain_unavailable');
    await sandbox.ask('/starknet/faults', undefined, 'DELETE');
    const [first, second] = [await post(key, wallet), await post(key, wallet)];
    expect([first.status, isReplay(first)]).toEqual([200, false]);
    expect([second.text, isReplay(second)]).toEqual([first.text, true]);
  });

  it('gives many simultaneous requests one and the same answer', async () => {
    const key = newKey();
    const replies = await Promise.all(Array.from({ length: 10 }, () => post(key)));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies.filter((reply) => !isReplay(reply))).toHaveLength(1);
  });

  it('is known to every process', async () => {
    const { baseUrl } = (await service.anotherHosted({ SVC_ROLE: 'api' })).credentials;
    const key = newKey();
    await post(key);
    expect(isReplay(await post(key, { baseUrl }))).toBe(true);
    expectError(await post(key, { baseUrl, body: INVALID }), 400, 'idempotency_key_reused');
  });
});

describe('the owner of an Idempotency-Key', () => {
  const asUser = async (sub: string) => ({
    'x-api-key': service.server.credentials.publicKey,
    authorization: `Bearer ${await userToken(service.server, sub)}`,
  });

  it('is the user: two users with the same key do not see each other', async () => {
    const key = newKey();
    const [ana, beto] = [await asUser('ana'), await asUser('beto')];
    expect((await post(key, { headers: ana })).body).toEqual({ valid: true });
    const other = await post(key, { headers: beto, body: INVALID });
    expect(other.status).toBe(200);
    expect(other.body).toMatchObject({ valid: false });
    expect(isReplay(other)).toBe(false);
    expect(isReplay(await post(key, { headers: ana }))).toBe(true);
    expect(isReplay(await post(key, { headers: await asUser('ana') }))).toBe(true);
  });

  it('is not the user where the secret key is used', async () => {
    const key = newKey();
    await post(key, { headers: await asUser('ana') });
    expect(isReplay(await post(key))).toBe(false);
  });

  it('is the environment of the organisation: others with the same key are strangers', async () => {
    const production = (await service.keys('production')).keys;
    const other = (await service.organization()).keys;
    const key = newKey();
    await post(key);
    for (const { headers } of [production, other]) {
      const reply = await post(key, { headers, body: INVALID });
      expect(reply.body).toMatchObject({ valid: false });
      expect(isReplay(reply)).toBe(false);
    }
  });
});

describe('the text of an Idempotency-Key', () => {
  it('may have 255 printable characters', async () => {
    const key = newKey().padEnd(255, '~ ').slice(0, 254).concat('x');
    expect(key).toHaveLength(255);
    expect((await post(key)).status).toBe(200);
    expect(isReplay(await post(key))).toBe(true);
  });

  it.each(['x'.repeat(256), 'x'.repeat(8000), 'é', ''])('is refused otherwise: %s', async (key) => {
    expectError(await post(key), 400, 'invalid_request');
  });

  it('means nothing on a GET', async () => {
    const get = () =>
      send(`${service.server.credentials.baseUrl}/skus?limit=1`, {
        headers: { ...keys, 'idempotency-key': 'x'.repeat(300) },
      });
    expect((await get()).status).toBe(200);
    expect(isReplay(await get())).toBe(false);
  });
});
