import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { createOrganization, issueKey } from '../organizations/api-keys.ts';
import { RateLimiter } from './limits.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await serverDatabase();
});
afterAll(() => database.drop());

async function newKey(): Promise<string> {
  const organizationId = await createOrganization(database.db, 'Rates');
  return (await issueKey(database.db, { organizationId, environment: 'development', kind: 'public' })).id;
}

/** Turns the window's start back instead of waiting for a minute. */
const endWindow = (key: string) =>
  database.db.run(sql`update rate_windows set started_at = started_at - interval '60 seconds' where key_id = ${key}`);

describe('the rate limit', () => {
  it('lets exactly the limit through and says what remains', async () => {
    const limiter = new RateLimiter(database.db, 7);
    const key = await newKey();
    const decisions = [];
    for (let i = 0; i < 10; i++) decisions.push(await limiter.take(key));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([...Array(7).fill(true), false, false, false]);
    expect(decisions.map(({ remaining }) => remaining)).toEqual([6, 5, 4, 3, 2, 1, 0, 0, 0, 0]);
    for (const { resetSeconds, limit } of decisions) {
      expect(limit).toBe(7);
      expect(resetSeconds).toBeGreaterThanOrEqual(1);
      expect(resetSeconds).toBeLessThanOrEqual(60);
    }
  });

  it('is shared by replicas: 150 requests over two of them, at once, let 95 to 100 through', async () => {
    const replicas = [new RateLimiter(database.db, 100), new RateLimiter(database.db, 100)];
    const key = await newKey();
    const decisions = await Promise.all(Array.from({ length: 150 }, (_, i) => replicas[i % 2]?.take(key)));
    const allowed = decisions.filter((decision) => decision?.allowed).length;
    expect(allowed).toBeLessThanOrEqual(100);
    expect(allowed).toBeGreaterThanOrEqual(95);
  });

  it('counts each key for itself', async () => {
    const limiter = new RateLimiter(database.db, 1);
    const [one, other] = [await newKey(), await newKey()];
    expect((await limiter.take(one)).allowed).toBe(true);
    expect((await limiter.take(one)).allowed).toBe(false);
    expect((await limiter.take(other)).allowed).toBe(true);
  });

  it('opens a new window a minute after the first request', async () => {
    let now = 0;
    const limiter = new RateLimiter(database.db, 2, () => now);
    const key = await newKey();
    await limiter.take(key);
    await limiter.take(key);
    expect((await limiter.take(key)).allowed).toBe(false);
    now = 59_000;
    expect((await limiter.take(key)).allowed).toBe(false);
    now = 60_001;
    await endWindow(key);
    expect(await limiter.take(key)).toMatchObject({ allowed: true, remaining: 1, resetSeconds: 60 });
  });

  it('never lets more through than the limit, even when it was lowered in the middle of a window', async () => {
    const key = await newKey();
    const before = new RateLimiter(database.db, 50);
    for (let i = 0; i < 20; i++) await before.take(key);
    const after = new RateLimiter(database.db, 10);
    expect((await after.take(key)).allowed).toBe(false);
  });
});
