import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Answer, failure, fakeClient, json, refusal, unreachable } from '../../testing/fake-client.ts';
import { SvcApiError, SvcConnectionError } from './errors.ts';
import { type OutgoingRequest, sendWithRetries } from './request.ts';

const sending = (method = 'GET', more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method,
  url: 'https://svc.example/v1/x',
  headers: async () => ({}),
  ...more,
});
const transient: readonly (readonly [string, Answer])[] = [
  ['429', refusal(429, 'rate_limited')],
  ['500', refusal(500)],
  ['502 of a proxy', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  ['503', refusal(503)],
  ['504', refusal(504)],
  ['a broken connection', unreachable],
  ['an idempotency key in progress', refusal(400, 'idempotency_key_in_progress')],
];

describe('a request that fails', () => {
  for (const method of ['GET', 'POST', 'PATCH']) {
    it.each(transient)(`is sent again by ${method} after %s`, async (_, fails) => {
      const { client, sent } = fakeClient([fails, fails, json({ done: true })]);
      expect(await sendWithRetries(client, sending(method))).toEqual({ done: true });
      expect(sent).toHaveLength(3);
    });
  }

  it('is tried three times and no more', async () => {
    const { client, sent } = fakeClient(Array(9).fill(refusal(500)));
    expect(await failure(sendWithRetries(client, sending()))).toMatchObject({ code: 'internal_error', status: 500 });
    expect(sent).toHaveLength(3);
  });

  it('is tried as often as the client allows', async () => {
    const { client, sent } = fakeClient(Array(9).fill(refusal(500)), { maxRetries: 0 });
    await failure(sendWithRetries(client, sending()));
    expect(sent).toHaveLength(1);
  });

  it('backs off exponentially with jitter between half and all of the pause', async () => {
    const randomBytes = (byte: number) => ({ randomBytes: () => new Uint8Array([byte]) });
    const shortest = fakeClient(Array(9).fill(refusal(500)), { maxRetries: 3, runtime: randomBytes(0) });
    await failure(sendWithRetries(shortest.client, sending()));
    expect(shortest.pausesMs).toEqual([125, 250, 500]);
    const longest = fakeClient(Array(9).fill(refusal(500)), { maxRetries: 3, runtime: randomBytes(255) });
    await failure(sendWithRetries(longest.client, sending()));
    expect(longest.pausesMs).toEqual([250, 500, 1_000]);
  });
});

describe('a request that is not retried', () => {
  it.each([
    ['400', refusal(400, 'invalid_request')],
    ['401', refusal(401, 'invalid_token')],
    ['404', refusal(404, 'wallet_not_found')],
    ['501', refusal(501, 'not_implemented')],
    ['a payout that failed and was taken back', refusal(500, 'payout_failed')],
    ['an answer that is not JSON', () => new Response('<h1>Hello</h1>')],
    ['an answer that leads elsewhere', () => new Response('', { status: 302, headers: { location: '/' } })],
  ])('after %s', async (_, answers) => {
    const { client, sent, pausesMs } = fakeClient([answers]);
    await expect(sendWithRetries(client, sending())).rejects.toThrow();
    expect(sent).toHaveLength(1);
    expect(pausesMs).toEqual([]);
  });

  it('is a deletion with an unknown outcome', async () => {
    for (const fails of [refusal(500), unreachable]) {
      const { client, sent } = fakeClient([fails]);
      await expect(sendWithRetries(client, sending('DELETE'))).rejects.toThrow();
      expect(sent).toHaveLength(1);
    }
    const limited = fakeClient([refusal(429, 'rate_limited'), json({ success: true })]);
    expect(await sendWithRetries(limited.client, sending('DELETE'))).toEqual({ success: true });
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-02T18:00:00Z');
  const after = (value: string) =>
    fakeClient([refusal(429, 'rate_limited', { 'retry-after': value }), json(1)], { runtime: { now: () => now } });

  it.each([
    ['in seconds', '7', 7_000],
    ['of a whole rate window', '60', 60_000],
    ['as a date', 'Mon, 02 Nov 2026 18:00:30 GMT', 30_000],
    ['as a date that is past', 'Mon, 02 Nov 2026 17:00:00 GMT', 0],
  ])('is honoured %s', async (_, value, pauseMs) => {
    const { client, pausesMs } = after(value);
    expect(await sendWithRetries(client, sending())).toBe(1);
    expect(pausesMs).toEqual([pauseMs]);
  });

  it('beyond a minute is not awaited but returned with the error', async () => {
    const { client, pausesMs } = after('61');
    expect(await failure(sendWithRetries(client, sending()))).toMatchObject({ status: 429, retryAfterMs: 61_000 });
    expect(pausesMs).toEqual([]);
  });

  it('that is invalid is ignored', async () => {
    const { client, pausesMs } = after('soon');
    expect(await sendWithRetries(client, sending())).toBe(1);
    expect(pausesMs).toHaveLength(1);
  });
});

describe('waiting for an answer', () => {
  const silent = (init: RequestInit) =>
    new Promise<never>((_, reject) => {
      if (init.signal?.aborted) reject(init.signal.reason);
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  const silentClient = (options = {}) =>
    fakeClient([], { fetch: (_: string, init: RequestInit = {}) => silent(init), maxRetries: 0, ...options }).client;

  it('ends with an error that names the timeout', async () => {
    const error = await failure(sendWithRetries(silentClient({ timeoutMs: 1 }), sending('POST')));
    expect(error).toBeInstanceOf(SvcConnectionError);
    expect(error).toMatchObject({ code: 'timeout', message: 'svc.example did not answer within 1 ms.' });
  });

  it("ends with the caller's own reason on abort", async () => {
    const stop = new AbortController();
    const waiting = failure(sendWithRetries(silentClient(), sending('GET', { signal: stop.signal })));
    const reason = new Error('the page was left');
    stop.abort(reason);
    expect(await waiting).toBe(reason);
  });

  it('is not retried after an abort', async () => {
    const stop = new AbortController();
    const { client, sent, pausesMs } = fakeClient([
      () => {
        stop.abort();
        throw new TypeError('fetch failed');
      },
    ]);
    await expect(sendWithRetries(client, sending('GET', { signal: stop.signal }))).rejects.toThrow();
    expect(sent).toHaveLength(1);
    expect(pausesMs).toEqual([]);
  });
});

describe('an answer', () => {
  it('that is an error has its code, status and request id', async () => {
    const { client } = fakeClient([refusal(404, 'wallet_not_found', { 'x-request-id': 'req-1' })]);
    const error = await failure(sendWithRetries(client, sending()));
    expect(error).toBeInstanceOf(SvcApiError);
    expect(error).toMatchObject({ code: 'wallet_not_found', status: 404, requestId: 'req-1', message: 'A sentence.' });
  });

  it.each([
    ['is not JSON', () => new Response('no', { status: 403 })],
    ['is JSON of another shape', json({ detail: 'no' }, 403)],
    ['is null', json(null, 403)],
    ['has an error that is not text', json({ error: 1, message: 2 }, 403)],
  ])('that is an error and %s has its status all the same', async (_, answers) => {
    const { client } = fakeClient([answers]);
    const error = await failure(sendWithRetries(client, sending()));
    expect(error).toBeInstanceOf(SvcApiError);
    expect(error).toMatchObject({ code: 'unexpected_answer', status: 403 });
  });

  it('that is not JSON points to a wrong baseUrl', async () => {
    const { client } = fakeClient([() => new Response('<h1>Hello</h1>')]);
    const error = await failure(sendWithRetries(client, sending()));
    expect(error).toBeInstanceOf(SvcConnectionError);
    expect(error).toMatchObject({ code: 'invalid_answer' });
  });

  it('that redirects is not followed, so that keys stay with the service', async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? '');
      response.writeHead(307, { location: '/elsewhere' }).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const { client } = fakeClient([], { fetch: (url, init) => fetch(url, init) });
    const url = `http://127.0.0.1:${port}/v1/x`;
    const error = await failure(sendWithRetries(client, sending('POST', { url })));
    server.close();
    expect(error).toMatchObject({ code: 'invalid_answer' });
    expect(requests).toEqual(['/v1/x']);
  });

  it('is requested without cookies', async () => {
    const { client, sent } = fakeClient([json(1)]);
    await sendWithRetries(client, sending());
    expect(sent[0]?.init).toMatchObject({ credentials: 'omit', redirect: 'manual' });
  });
});
