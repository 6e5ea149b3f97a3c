import { allEndpoints } from '@svc/protocol';
import type { Db } from '@svc/store';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { type Authenticator, createAuthenticate } from '../auth/authenticate.ts';
import type { Handlers } from './call.ts';
import { registerEndpoints } from './endpoints.ts';
import { KeyWaiters } from './idempotency.ts';
import { AdmissionControl, BUSY_COUNT, type RateLimiter } from './limits.ts';

const KEY = { organization_id: 'org', environment: 'development', id: 'key', revoked_at: null };
const credentials = {
  publicKey: async () => KEY,
  secretKey: async () => KEY,
  caller: (_: string, find: () => unknown) => find(),
};
const headers = {
  'x-api-key': `pk_dev_${'a'.repeat(32)}`,
  authorization: `Bearer sk_dev_${'a'.repeat(32)}`,
  'idempotency-key': 'once',
};
const upgrade = {
  method: 'POST',
  url: '/svc-wallets/upgrade',
  headers,
  payload: { walletAddress: '0x1', typedData: {}, signature: ['0x1', '0x2'] },
} as const;

const unlimited = {
  take: async () => ({ allowed: true, limit: 1, remaining: 1, resetSeconds: 1 }),
} as unknown as RateLimiter;

/** The interface with handlers and a database that only count, and a clock that stands still. */
function admissionApp() {
  const handled: string[] = [];
  const used = { database: 0 };
  const handlers = allEndpoints.map(({ operationId }) => [operationId, async () => handled.push(operationId)]);
  const run = async () => {
    used.database += 1;
    return 1;
  };
  const admission = new AdmissionControl({ perSecond: 1, now: () => 0, pause: () => new Promise(() => {}) });
  const app = Fastify();
  registerEndpoints(app, {
    db: { run } as unknown as Db,
    authenticate: createAuthenticate({ credentials } as unknown as Authenticator),
    limits: { requests: unlimited, usersOfKey: unlimited, clients: unlimited, sessions: unlimited },
    admission,
    keyWaiters: new KeyWaiters(),
    handlers: Object.fromEntries(handlers) as unknown as Handlers,
  });
  const read = () => app.inject({ method: 'GET', url: '/skus/any', headers });
  return { app, handled, used, admission, read };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('an expensive request beside many others', () => {
  it('waits without the database while the others continue, and begins when the server closes', async () => {
    const { app, handled, used, admission, read } = admissionApp();
    for (let count = 0; count < BUSY_COUNT; count++) await read();
    await app.inject(upgrade);
    expect(handled.filter((name) => name === 'executeWalletUpgrade')).toHaveLength(1);
    const before = used.database;
    const second = app.inject(upgrade);
    while (admission.waiting === 0) await settled();
    await read();
    expect(handled.at(-1)).toBe('getSku');
    expect([admission.waiting, used.database]).toEqual([1, before]);
    await app.close();
    await second;
    expect(handled.filter((name) => name === 'executeWalletUpgrade')).toHaveLength(2);
  });

  it('does not count as one of the others', async () => {
    const { app, handled } = admissionApp();
    for (let count = 0; count <= BUSY_COUNT; count++) await app.inject(upgrade);
    expect(handled).toHaveLength(BUSY_COUNT + 1);
    await app.close();
  });
});
