import { ApiError, allEndpoints, type ErrorCode } from '@svc/protocol';
import type { TestDatabase } from '@svc/store/testing';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { type Authenticator, createAuthenticate } from '../auth/authenticate.ts';
import type { Handlers } from './call.ts';
import { registerEndpoints } from './endpoints.ts';
import { KeyWaiters } from './idempotency.ts';
import { AdmissionControl, RateLimiter, type RequestLimits } from './limits.ts';
import { replyWithError } from './request-hooks.ts';

let database: TestDatabase;
let app: FastifyInstance;
let refuse: () => unknown;
let handled = 0;

beforeAll(async () => {
  database = await serverDatabase();
  app = Fastify();
  app.setErrorHandler(replyWithError);
  const handler = async () => {
    handled += 1;
    return refuse();
  };
  const handlers = Object.fromEntries(allEndpoints.map(({ operationId }) => [operationId, handler]));
  registerEndpoints(app, {
    db: database.db,
    authenticate: createAuthenticate({} as Authenticator),
    limits: { clients: new RateLimiter(database.db, 1_000) } as RequestLimits,
    admission: new AdmissionControl({ perSecond: 1 }),
    keyWaiters: new KeyWaiters(),
    handlers: handlers as unknown as Handlers,
  });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

/** Asks twice with the same key, at an endpoint that needs no credentials; answers how often the handler ran. */
async function timesHandled(code: ErrorCode, status?: number): Promise<number> {
  const headers = { 'idempotency-key': `${code} ${status}` };
  const payload = { walletAddress: '0x1', chain: 'starknet' };
  const request = { method: 'POST', url: '/gifts/claim/NAVIDAD/redeem', headers, payload } as const;
  refuse = () => {
    throw new ApiError(code, undefined, status === undefined ? {} : { status });
  };
  handled = 0;
  const [first, second] = [await app.inject(request), await app.inject(request)];
  expect([first.json().error, second.json().error]).toEqual([code, code]);
  return handled;
}

describe('a refusal of a request with an Idempotency-Key', () => {
  it('is kept like any answer', async () => {
    expect(await timesHandled('transaction_reverted')).toBe(1);
  });

  it.each([
    ['wallet_not_deployed', undefined],
    ['sponsorship_limit_reached', undefined],
    ['transaction_not_found', 400],
    ['chain_unavailable', undefined],
    ['rate_limited', undefined],
  ] as const)('is not kept when it says to try again: %s', async (code, status) => {
    expect(await timesHandled(code, status)).toBe(2);
  });
});
