import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiFailure, send } from './request.ts';

const calls: { url: string; init: RequestInit }[] = [];
let answers: (() => Response)[];

beforeEach(() => {
  calls.length = 0;
  vi.useFakeTimers();
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    calls.push({ url, init });
    const answer = answers.shift();
    if (!answer) throw new TypeError('Failed to fetch');
    return answer();
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const json = (status: number, body: unknown) => () =>
  Response.json(body, { status, headers: { 'x-request-id': 'req-7' } });
const headersOf = (index: number) => calls[index]?.init.headers as Record<string, string>;

/** Lets the pauses between attempts pass. */
async function settled(request: Promise<unknown>): Promise<unknown> {
  const done = request.catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return done;
}

describe('a request of the dashboard', () => {
  it('fills the path, leaves out what is not given, and names its environment', async () => {
    answers = [json(200, { id: 'a' })];
    const answer = await send('GET /gifts/{id}', {
      params: { id: 'a/b' },
      query: { limit: 5, search: 'x y', cursor: undefined, type: '' },
    });
    expect(answer).toEqual({ id: 'a' });
    expect(calls[0]?.url).toMatch(/\/v1\/gifts\/a%2Fb\?limit=5&search=x\+y$/);
    expect(headersOf(0)['x-svc-environment']).toBe('development');
    expect(headersOf(0)['idempotency-key']).toBeUndefined();
  });

  it('fails with the code, message, status and request id of the answer', async () => {
    answers = [json(400, { error: 'insufficient_credits', message: 'There are not enough credits.' })];
    const failure = await settled(send('POST /gifts', { body: {} }));
    expect(failure).toBeInstanceOf(ApiFailure);
    expect(failure).toMatchObject({
      code: 'insufficient_credits',
      message: 'There are not enough credits.',
      status: 400,
      requestId: 'req-7',
    });
    expect(calls).toHaveLength(1);
  });

  it('repeats a POST that found no service, with the same Idempotency-Key', async () => {
    answers = [json(503, { error: 'service_unavailable', message: '' }), json(201, { id: 'a' })];
    expect(await settled(send('POST /gifts', { body: { amount: 5 } }))).toEqual({ id: 'a' });
    expect(calls).toHaveLength(2);
    expect(headersOf(0)['idempotency-key']).toMatch(/^[\w-]{10,}$/);
    expect(headersOf(1)['idempotency-key']).toBe(headersOf(0)['idempotency-key']);
    expect(calls[1]?.init.body).toBe('{"amount":5}');
  });

  it('gives up after three attempts, and repeats no change without a key', async () => {
    answers = [];
    expect(await settled(send('GET /gifts'))).toMatchObject({ code: 'network_error', status: 0 });
    expect(calls).toHaveLength(3);
    expect(await settled(send('PATCH /gifts/{id}', { params: { id: 'a' }, body: {} }))).toBeInstanceOf(ApiFailure);
    expect(calls).toHaveLength(4);
  });
});
