import { allEndpoints } from '@svc/protocol';
import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { type Authenticator, createAuthenticate } from '../auth/authenticate.ts';
import type { Call, Handlers } from './call.ts';
import { registerEndpoints, withoutShownOnce } from './endpoints.ts';
import { KeyWaiters } from './idempotency.ts';
import { AdmissionControl, type RateLimiter } from './limits.ts';

const SECRET = `sk_dev_${'b'.repeat(36)}`;
const KEY = { organization_id: 'org', environment: 'development', id: 'key', revoked_at: null };
const credentials = {
  publicKey: async () => KEY,
  secretKey: async () => KEY,
  caller: (_: string, find: () => unknown) => find(),
};
const headers = { 'x-api-key': `pk_dev_${'a'.repeat(32)}`, authorization: `Bearer sk_dev_${'a'.repeat(32)}` };
const created = {
  id: 'key_1',
  kind: 'secret',
  key: 'sk_dev_…bbbb',
  createdAt: '2026-01-01T00:00:00.000Z',
  revokedAt: null,
  secretKey: SECRET,
};
const unlimited = {
  take: async () => ({ allowed: true, limit: 1, remaining: 1, resetSeconds: 1 }),
} as unknown as RateLimiter;

let database: TestDatabase;
let app: FastifyInstance;
let inTransaction = true;

beforeAll(async () => {
  database = await serverDatabase();
  app = Fastify();
  const handler = (call: Call<never>) => (inTransaction ? call.transact(async () => created as never) : created);
  registerEndpoints(app, {
    db: database.db,
    authenticate: createAuthenticate({ credentials } as unknown as Authenticator),
    limits: { requests: unlimited, usersOfKey: unlimited, clients: unlimited, sessions: unlimited },
    admission: new AdmissionControl({ perSecond: 1 }),
    keyWaiters: new KeyWaiters(),
    handlers: Object.fromEntries(allEndpoints.map(({ operationId }) => [operationId, handler])) as unknown as Handlers,
  });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const create = (key: string) =>
  app.inject({
    method: 'POST',
    url: '/organization/keys',
    headers: { ...headers, 'idempotency-key': key },
    payload: { kind: 'secret' },
  });

describe('what is shown once', () => {
  it.each([true, false])('is in the first answer and in no repetition of it (in a transaction: %s)', async (within) => {
    inTransaction = within;
    const key = `once ${within}`;
    const [first, second] = [await create(key), await create(key)];
    expect(first.json()).toEqual(created);
    expect(second.json()).toEqual({ ...created, secretKey: null });
    expect([first.statusCode, second.statusCode]).toEqual([201, 201]);
  });

  it('is nowhere in the database', async () => {
    await create('stored');
    const rows = await database.db.rows(sql`select to_jsonb(k) as row from idempotency_keys k`);
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });

  it('leaves every other answer as it is', () => {
    const answer = { status: 200, body: { secret: 'x', id: '1' } };
    expect(withoutShownOnce({}, answer)).toBe(answer);
    expect(withoutShownOnce({ shownOnce: ['secretKey'] }, answer)).toEqual(answer);
    expect(withoutShownOnce({ shownOnce: ['secret'] }, answer).body).toEqual({ secret: null, id: '1' });
    expect(withoutShownOnce({ shownOnce: ['secret'] }, { status: 200, body: 5.4 }).body).toBe(5.4);
  });
});
