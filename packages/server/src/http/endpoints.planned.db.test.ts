import { type Endpoint, endpoint, endpoints } from '@svc/protocol';
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

const planned: Endpoint = endpoint({
  ...endpoints.redeemGift,
  operationId: 'planGift',
  path: '/plans/{code}',
  planned: true,
});

beforeAll(async () => {
  database = await serverDatabase();
  app = started([planned]);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

function started(list: readonly Endpoint[]): FastifyInstance {
  const fresh = Fastify();
  fresh.setErrorHandler(replyWithError);
  registerEndpoints(fresh, {
    db: database.db,
    authenticate: createAuthenticate({} as Authenticator),
    limits: { clients: new RateLimiter(database.db, 1_000) } as RequestLimits,
    admission: new AdmissionControl({ perSecond: 1 }),
    keyWaiters: new KeyWaiters(),
    handlers: {} as Handlers,
    endpoints: list,
  });
  return fresh;
}

const ask = (payload: object, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/plans/NAVIDAD', payload, headers });
const body = { walletAddress: '0x1', chain: 'starknet' };

describe('an endpoint that is planned', () => {
  it('answers 501 not_implemented', async () => {
    const reply = await ask(body);
    expect([reply.statusCode, reply.json().error]).toEqual([501, 'not_implemented']);
  });

  it('is counted and validated all the same', async () => {
    const reply = await ask({});
    expect([reply.statusCode, reply.json().error]).toEqual([400, 'invalid_request']);
    expect(reply.headers).toHaveProperty('ratelimit-limit');
  });

  it('does not use up an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' };
    for (const reply of [await ask(body, headers), await ask(body, headers)]) {
      expect(reply.statusCode).toBe(501);
      expect(reply.headers).not.toHaveProperty('idempotency-replayed');
    }
  });
});

describe('an endpoint that is neither planned nor built', () => {
  it('does not let the service start', () => {
    const { planned: _, ...unbuilt } = planned;
    expect(() => started([unbuilt])).toThrow('No handler for planGift');
  });
});
