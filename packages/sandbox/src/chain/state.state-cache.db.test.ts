import { type Reads, sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandbox } from '../index.ts';
import type { Head } from './head.ts';
import { StateCache, stateAt } from './state.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await TestDatabase.create([sandbox.migrations]);
  await database.db.run(sql`
    insert into sandbox.state (contract, slot, version, value)
    values ('0x1', '0xa', 0, '0x10'), ('0x1', '0xa', 5, '0x15'), ('0x1', 'nonce', 7, '0x2')`);
});
afterAll(() => database.drop());

const head = (version: number, reorganisations = 0): Head => ({
  number: version,
  hash: '0x1',
  timestamp: 0,
  sealedVersion: version,
  version,
  reorganisations,
  blockSeconds: 0,
  timeOffsetSeconds: 0,
  l1AfterBlocks: 1,
  open: undefined,
  queued: 0,
  faultsActive: false,
});
const row = (version: number, value: string) => ({ contract: '0x1', slot: '0xa', version, value });

async function cacheAt(version: number, maxEntries?: number): Promise<StateCache> {
  const cache = new StateCache(maxEntries);
  await cache.sync(database.db, head(version));
  return cache;
}

describe('state in memory', () => {
  it('is found by its own version only', async () => {
    const cache = await cacheAt(3);
    cache.set(3, '0x1', '0xa', 9n);
    cache.set(2, '0x1', '0xb', 8n);
    expect(cache.get(3, '0x1', '0xa')).toBe(9n);
    expect(cache.get(2, '0x1', '0xa')).toBeUndefined();
    expect(cache.get(2, '0x1', '0xb')).toBeUndefined();
    expect(cache.get(3, '0x1', '0xb')).toBeUndefined();
    expect(cache.get(4, '0x1', '0xa')).toBeUndefined();
  });

  it('is found by earlier versions, too, that had the same value', async () => {
    const cache = await cacheAt(3);
    cache.set(3, '0x1', '0xb', 1n);
    cache.advance(3, head(5), [row(4, '0x14'), row(5, '0x15')]);
    const values = (slot: string) => [3, 4, 5].map((version) => cache.get(version, '0x1', slot));
    expect(values('0xb')).toEqual([1n, 1n, 1n]);
    expect(values('0xa')).toEqual([undefined, undefined, 0x15n]);
  });

  it('moves on with the blocks of its own process', async () => {
    const cache = await cacheAt(3);
    cache.set(3, '0x1', '0xb', 1n);
    cache.advance(3, head(4), [row(4, '0x14')]);
    expect([cache.get(4, '0x1', '0xa'), cache.get(4, '0x1', '0xb')]).toEqual([0x14n, 1n]);
  });

  it('takes what was read of an earlier version, unless it has changed since then', async () => {
    const cache = await cacheAt(3);
    cache.advance(3, head(5), [row(5, '0x15')]);
    cache.set(3, '0x1', '0xa', 9n);
    cache.set(3, '0x1', '0xb', 8n);
    cache.set(2, '0x1', '0xc', 7n);
    const values = ['0xa', '0xb', '0xc'].map((slot) => cache.get(5, '0x1', slot));
    expect(values).toEqual([0x15n, 8n, undefined]);
  });

  it('takes nothing of a version whose changes it has evicted', async () => {
    const cache = await cacheAt(3, 1);
    cache.advance(3, head(5), [row(5, '0x15')]);
    cache.advance(5, head(6), [{ ...row(6, '0x1'), slot: '0xb' }]);
    cache.set(4, '0x1', '0xa', 9n);
    expect(cache.get(6, '0x1', '0xa')).toBeUndefined();
    cache.set(5, '0x1', '0xa', 0x15n);
    expect(cache.get(6, '0x1', '0xa')).toBe(0x15n);
  });

  it('takes over what others wrote', async () => {
    const cache = await cacheAt(3);
    cache.set(3, '0x1', '0xa', 0x10n);
    cache.set(3, '0x2', '0xa', 3n);
    await cache.sync(database.db, head(6));
    expect([cache.get(6, '0x1', '0xa'), cache.get(6, '0x2', '0xa')]).toEqual([0x15n, 3n]);
  });

  it('forgets everything after a reorganisation', async () => {
    const cache = await cacheAt(3);
    cache.set(3, '0x1', '0xa', 9n);
    await cache.sync(database.db, head(4, 1));
    expect(cache.get(4, '0x1', '0xa')).toBeUndefined();
    expect(cache.size).toBe(0);
  });

  it('is not turned back by a reader that looked earlier', async () => {
    const cache = await cacheAt(6);
    cache.set(6, '0x1', '0xa', 9n);
    await cache.sync(database.db, head(3));
    expect(cache.get(6, '0x1', '0xa')).toBe(9n);
  });

  it('evicts the oldest entries at its limit', async () => {
    const cache = await cacheAt(1, 2);
    for (const slot of ['0xa', '0xb', '0xc']) cache.set(1, '0x1', slot, 1n);
    expect(cache.size).toBe(2);
    expect(cache.get(1, '0x1', '0xa')).toBeUndefined();
  });
});

describe('state at a version', () => {
  it('is the newest value up to it, zero where there is none', async () => {
    const cache = new StateCache();
    const at = (version: number) => stateAt(database.db, cache, version);
    expect(await at(4).storageAt(1n, 0xan)).toBe(0x10n);
    expect(await at(5).storageAt(1n, 0xan)).toBe(0x15n);
    expect(await at(6).nonceAt(1n)).toBe(0n);
    expect(await at(7).nonceAt(1n)).toBe(2n);
    expect(await at(7).classHashAt(1n)).toBe(0n);
  });

  it('is read by one statement where many cells are asked for at once', async () => {
    const cache = new StateCache();
    let statements = 0;
    const rows: Reads['rows'] = (query) => {
      statements += 1;
      return database.db.rows(query);
    };
    const state = stateAt({ rows, one: database.db.one }, cache, 7);
    const cells = [state.storageAt(1n, 0xbn), state.storageAt(1n, 0xan), state.nonceAt(1n), state.storageAt(2n, 0xan)];
    expect(await Promise.all(cells)).toEqual([0n, 0x15n, 2n, 0n]);
    expect(statements).toBe(1);
  });

  it('fails for all who ask together when the database fails', async () => {
    const rows = () => Promise.reject(new Error('the database is gone'));
    const state = stateAt({ rows, one: rows }, new StateCache(), 7);
    const [first, second] = await Promise.allSettled([state.storageAt(1n, 1n), state.storageAt(1n, 2n)]);
    expect([first?.status, second?.status]).toEqual(['rejected', 'rejected']);
  });
});
