import { listen, sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import {
  claimKey,
  deleteOldKeys,
  fingerprintOf,
  IDEMPOTENCY_CHANNEL,
  type KeyClaim,
  type KeyedRequest,
  KeyWaiters,
} from './idempotency.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await serverDatabase();
});
afterAll(() => database.drop());

let count = 0;
const request = (body: unknown = { a: 1 }): KeyedRequest => ({
  scope: 'org_1 development',
  key: `key-${count++}`,
  fingerprint: fingerprintOf('POST', '/v1/gifts', body),
});

/** Wakes duplicates by their own poll only; the default of these tests is not to wait for it. */
const polling = new KeyWaiters(1);
const claimOrReplay = (keyed: KeyedRequest, waiters = polling) => claimKey(database.db, keyed, waiters);

async function claim(keyed: KeyedRequest): Promise<KeyClaim> {
  const result = await claimOrReplay(keyed);
  if (!('claim' in result)) throw new Error('expected a claim');
  return result.claim;
}

describe('an Idempotency-Key', () => {
  it('replays the first answer', async () => {
    const keyed = request();
    await (await claim(keyed)).store(database.db, { status: 201, body: { id: 'gft_1' } });
    expect(await claimOrReplay(keyed)).toEqual({ replay: { status: 201, body: { id: 'gft_1' } } });
  });

  it('replays a bare number', async () => {
    const keyed = request();
    await (await claim(keyed)).store(database.db, { status: 200, body: 5.4 });
    expect(await claimOrReplay(keyed)).toEqual({ replay: { status: 200, body: 5.4 } });
  });

  it('refuses another body, while the first runs and afterwards', async () => {
    const keyed = request();
    const other = { ...keyed, fingerprint: fingerprintOf('POST', '/v1/gifts', { a: 2 }) };
    const first = await claim(keyed);
    await expect(claimOrReplay(other)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await first.store(database.db, { status: 200, body: {} });
    await expect(claimOrReplay(other)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('takes the same body in another order for the same body, and any other path for another', () => {
    const same = fingerprintOf('POST', '/v1/gifts', { a: 1, b: { c: 2, d: 3 } });
    expect(fingerprintOf('POST', '/v1/gifts', { b: { d: 3, c: 2 }, a: 1 }).equals(same)).toBe(true);
    expect(fingerprintOf('POST', '/v1/gifts/bulk', { a: 1, b: { c: 2, d: 3 } }).equals(same)).toBe(false);
    expect(fingerprintOf('POST', '/v1/gifts', undefined).equals(same)).toBe(false);
  });

  it('gives exactly one of many simultaneous requests the claim, and the others its answer', async () => {
    const keyed = request();
    const results = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const result = await claimOrReplay(keyed);
        if ('claim' in result) await result.claim.store(database.db, { status: 200, body: 'first' });
        return result;
      }),
    );
    expect(results.filter((result) => 'claim' in result)).toHaveLength(1);
    for (const result of results) if ('replay' in result) expect(result.replay.body).toBe('first');
  });

  it('is free again when its request released it', async () => {
    const keyed = request();
    await (await claim(keyed)).release();
    expect(await claimOrReplay(keyed)).toHaveProperty('claim');
  });

  it('is free again when its process died, and the dead one can no longer commit anything', async () => {
    const keyed = request();
    const dead = await claim(keyed);
    await database.db.run(
      sql`update idempotency_keys set leased_until = now() - interval '1 second' where key = ${keyed.key}`,
    );
    const next = await claim(keyed);
    await expect(dead.store(database.db, { status: 200, body: 'late' })).rejects.toThrow(/lost its idempotency key/);
    await next.store(database.db, { status: 200, body: 'second' });
    expect(await claimOrReplay(keyed)).toMatchObject({ replay: { body: 'second' } });
  });

  it('stores its answer with the work, or not at all', async () => {
    const keyed = request();
    const first = await claim(keyed);
    const work = database.db.tx(async (tx) => {
      await first.store(tx, { status: 200, body: 'never' });
      throw new Error('crash before the commit');
    });
    await expect(work).rejects.toThrow('crash');
    const row = await database.db.one<{ status: number | null }>(
      sql`select status from idempotency_keys where key = ${keyed.key}`,
    );
    expect(row?.status).toBeNull();
  });

  it('is deleted after a day', async () => {
    const keyed = request();
    await (await claim(keyed)).store(database.db, { status: 200, body: 'old' });
    await database.db.run(
      sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = ${keyed.key}`,
    );
    expect(await claimOrReplay(keyed)).toHaveProperty('claim');

    const other = request();
    await (await claim(other)).store(database.db, { status: 200, body: 'old' });
    await database.db.run(
      sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = ${other.key}`,
    );
    expect(await deleteOldKeys(database.db)).toBe(1);
  });
});

describe('a duplicate of a running request', () => {
  /** Polls once an hour, so that only a notification wakes it. */
  const listening = async () => {
    const waiters = new KeyWaiters(3_600_000);
    const listener = await listen(database.url, IDEMPOTENCY_CHANNEL, { onMessage: (id) => waiters.notify(id) });
    onTestFinished(() => listener.close());
    return waiters;
  };
  const isAwaited = async (keyed: KeyedRequest) =>
    (await database.db.one<{ awaited: boolean }>(sql`select awaited from idempotency_keys where key = ${keyed.key}`))
      ?.awaited;

  it('is woken by the answer', async () => {
    const keyed = request();
    const first = await claim(keyed);
    const waiters = await listening();
    const duplicates = [claimOrReplay(keyed, waiters), claimOrReplay(keyed, waiters)];
    await expect.poll(() => isAwaited(keyed)).toBe(true);
    await database.db.tx((tx) => first.store(tx, { status: 200, body: 'first' }));
    for (const duplicate of duplicates) expect(await duplicate).toEqual({ replay: { status: 200, body: 'first' } });
  });

  it('is woken when the first request releases the key: one of them claims it, the others get its answer', async () => {
    const keyed = request();
    const first = await claim(keyed);
    const waiters = await listening();
    const duplicates = Array.from({ length: 3 }, async () => {
      const result = await claimOrReplay(keyed, waiters);
      if ('claim' in result) await result.claim.store(database.db, { status: 200, body: 'second' });
      return result;
    });
    await expect.poll(() => isAwaited(keyed)).toBe(true);
    await first.release();
    const results = await Promise.all(duplicates);
    expect(results.filter((result) => 'claim' in result)).toHaveLength(1);
    expect(results.filter((result) => 'replay' in result && result.replay.body === 'second')).toHaveLength(2);
  });

  it('finds the answer by its own poll where the notification is lost', async () => {
    const keyed = request();
    const first = await claim(keyed);
    const duplicate = claimOrReplay(keyed);
    await expect.poll(() => isAwaited(keyed)).toBe(true);
    await first.store(database.db, { status: 200, body: 'first' });
    expect(await duplicate).toEqual({ replay: { status: 200, body: 'first' } });
  });

  it('asks the database once before it waits and once after', async () => {
    const keyed = request();
    const first = await claim(keyed);
    let statements = 0;
    const counted = new Proxy(database.db, {
      get: (db, name) => {
        if (name === 'run' || name === 'one') statements++;
        return Reflect.get(db, name);
      },
    });
    const waiters = await listening();
    const duplicate = claimKey(counted, keyed, waiters);
    await expect.poll(() => isAwaited(keyed)).toBe(true);
    await first.store(database.db, { status: 200, body: 'first' });
    await duplicate;
    // Claim and read; mark, claim, read, wait; mark, claim, read.
    expect(statements).toBeLessThanOrEqual(8);
  });
});
