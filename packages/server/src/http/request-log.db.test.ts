import { type Db, sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { createOrganization } from '../organizations/api-keys.ts';
import type { Caller } from './call.ts';
import { deleteOldRequests, RequestLog } from './request-log.ts';

let database: TestDatabase;
let caller: Caller;
beforeAll(async () => {
  database = await serverDatabase();
  const organizationId = await createOrganization(database.db, 'Tienda Azul');
  const owner = { organizationId, environment: 'development' } as const;
  caller = { ...owner, keyId: 'key_1', apiPublicKey: undefined, proof: 'secret key', externalUserId: undefined };
});
afterAll(() => database.drop());
beforeEach(() => database.db.run(sql`delete from request_log`));

const silent = { warn() {} };
const entry = (requestId: string) => () => ({
  ...{ at: new Date(), caller, requestId, method: 'GET', path: '/gifts', status: 200, ms: 1.5 },
  ...{ errorCode: undefined, ignoredFields: ['colour', 'size'] },
});
const count = async () => (await database.db.rows(sql`select from request_log`)).length;

describe('the request log', () => {
  it('writes what it was given, also at the end, in statements of 500', async () => {
    const statements: number[] = [];
    const db = {
      ...database.db,
      run: async (query) => {
        const rows = await database.db.run(query);
        statements.push(rows);
        return rows;
      },
    } as Db;
    const log = new RequestLog(db, silent);
    for (let index = 0; index < 1_100; index++) log.add(entry(`req-${index}`));
    await log.stop();
    expect(statements).toEqual([500, 500, 100]);
    const [row] = await database.db.rows(sql`select actor, duration_ms, ignored_fields from request_log limit 1`);
    expect(row).toEqual({ actor: 'key_1', duration_ms: 1.5, ignored_fields: ['colour', 'size'] });
    expect(log.dropped).toBe(0);
  });

  it('writes one statement in half a second, however many requests come', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const run = vi.fn(async () => 0);
    const log = new RequestLog({ ...database.db, run } as Db, silent);
    const flood = () => Array.from({ length: 2_000 }, () => log.add(entry('x')));
    flood();
    await vi.advanceTimersByTimeAsync(499);
    expect(run).toHaveBeenCalledTimes(0);
    for (const written of [1, 2, 3]) {
      await vi.advanceTimersByTimeAsync(500);
      flood();
      expect(run).toHaveBeenCalledTimes(written);
    }
    await log.stop();
  });

  it('keeps 2,000 while the database hangs, and counts those that it drops', async () => {
    const hanging = Promise.withResolvers<number>();
    const log = new RequestLog({ ...database.db, run: () => hanging.promise } as Db, silent);
    let made = 0;
    for (let index = 0; index < 5_000; index++) {
      log.add(() => {
        made += 1;
        return entry('x')();
      });
    }
    expect([made, log.dropped]).toEqual([2_000, 3_000]);
    hanging.resolve(0);
    await log.stop();
  });

  it('goes on after a statement that failed, and counts its rows as dropped', async () => {
    let failures = 1;
    const run: Db['run'] = (query) =>
      failures-- > 0 ? Promise.reject(new Error('no database')) : database.db.run(query);
    const log = new RequestLog({ ...database.db, run } as Db, silent);
    for (let index = 0; index < 700; index++) log.add(entry(`req-${index}`));
    await log.stop();
    expect([log.dropped, await count()]).toEqual([500, 200]);
  });
});

describe('old requests', () => {
  const fill = (rows: number, age: string, environment = 'development') =>
    database.db.run(sql`
      insert into request_log (at, organization_id, environment, request_id, method, path, status, duration_ms, actor)
      select now() - ${age}::interval - n * interval '1 second', ${caller.organizationId}, ${environment}, 'r', 'GET', '/', 200, 1, 'k'
        from generate_series(1, ${rows}::integer) as n`);

  it('are deleted after 7 days', async () => {
    await fill(6_000, '7 days 1 minute');
    await fill(10, '6 days');
    await deleteOldRequests(database.db, 1_000, new AbortController().signal);
    expect(await count()).toBe(10);
  });

  it('are deleted above the number that an environment keeps, and those of another environment stay', async () => {
    await fill(1_500, '1 hour');
    await fill(900, '1 hour', 'production');
    await deleteOldRequests(database.db, 1_000, new AbortController().signal);
    expect(await count()).toBe(1_900);
  });
});
