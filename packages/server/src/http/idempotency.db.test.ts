import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { claimKey, fingerprintOf, forgetOldKeys, type KeyClaim, type KeyedRequest } from './idempotency.ts';

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

async function turn(keyed: KeyedRequest): Promise<KeyClaim> {
  const result = await claimKey(database.db, keyed);
  if (!('turn' in result)) throw new Error('expected a turn');
  return result.turn;
}

describe('an Idempotency-Key', () => {
  it('replays the first answer', async () => {
    const keyed = request();
    await (await turn(keyed)).store(database.db, { status: 201, body: { id: 'gft_1' } });
    expect(await claimKey(database.db, keyed)).toEqual({ replay: { status: 201, body: { id: 'gft_1' } } });
  });

  it('replays a bare number', async () => {
    const keyed = request();
    await (await turn(keyed)).store(database.db, { status: 200, body: 5.4 });
    expect(await claimKey(database.db, keyed)).toEqual({ replay: { status: 200, body: 5.4 } });
  });

  it('refuses another body, while the first runs and afterwards', async () => {
    const keyed = request();
    const other = { ...keyed, fingerprint: fingerprintOf('POST', '/v1/gifts', { a: 2 }) };
    const first = await turn(keyed);
    await expect(claimKey(database.db, other)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await first.store(database.db, { status: 200, body: {} });
    await expect(claimKey(database.db, other)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('takes the same body in another order for the same body, and any other path for another', () => {
    const same = fingerprintOf('POST', '/v1/gifts', { a: 1, b: { c: 2, d: 3 } });
    expect(fingerprintOf('POST', '/v1/gifts', { b: { d: 3, c: 2 }, a: 1 }).equals(same)).toBe(true);
    expect(fingerprintOf('POST', '/v1/gifts/bulk', { a: 1, b: { c: 2, d: 3 } }).equals(same)).toBe(false);
    expect(fingerprintOf('POST', '/v1/gifts', undefined).equals(same)).toBe(false);
  });

  it('gives exactly one of many simultaneous requests the turn, and the others its answer', async () => {
    const keyed = request();
    const results = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const result = await claimKey(database.db, keyed);
        if ('turn' in result) await result.turn.store(database.db, { status: 200, body: 'first' });
        return result;
      }),
    );
    expect(results.filter((result) => 'turn' in result)).toHaveLength(1);
    for (const result of results) if ('replay' in result) expect(result.replay.body).toBe('first');
  });

  it('is handed on when its request gave up', async () => {
    const keyed = request();
    await (await turn(keyed)).release();
    expect(await claimKey(database.db, keyed)).toHaveProperty('turn');
  });

  it('is taken over when its process died, and the dead one can no longer commit anything', async () => {
    const keyed = request();
    const dead = await turn(keyed);
    await database.db.run(
      sql`update idempotency_keys set leased_until = now() - interval '1 second' where key = ${keyed.key}`,
    );
    const next = await turn(keyed);
    await expect(dead.store(database.db, { status: 200, body: 'late' })).rejects.toThrow(/lost its idempotency key/);
    await next.store(database.db, { status: 200, body: 'second' });
    expect(await claimKey(database.db, keyed)).toMatchObject({ replay: { body: 'second' } });
  });

  it('stores its answer with the work, or not at all', async () => {
    const keyed = request();
    const first = await turn(keyed);
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

  it('is forgotten after a day', async () => {
    const keyed = request();
    await (await turn(keyed)).store(database.db, { status: 200, body: 'old' });
    await database.db.run(
      sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = ${keyed.key}`,
    );
    expect(await claimKey(database.db, keyed)).toHaveProperty('turn');

    const other = request();
    await (await turn(other)).store(database.db, { status: 200, body: 'old' });
    await database.db.run(
      sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = ${other.key}`,
    );
    expect(await forgetOldKeys(database.db)).toBe(1);
  });
});
