import { sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { microsOf, olderThan, type Place, readCursor, toCursorPage } from './call.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await TestDatabase.create([]);
  await database.db.run(sql`create table rows (id text primary key, created_at timestamptz not null)`);
  // Neighbours differ by a microsecond, and four rows have one time.
  await database.db.run(sql`
    insert into rows select 'row_' || n, timestamptz '2026-11-02T10:00:00.123456Z' + (n / 4) * interval '1 microsecond'
      from generate_series(1, 50) as n`);
});
afterAll(() => database.drop());

async function page(query: { limit?: number; cursor?: string }) {
  const { limit, after } = readCursor(query);
  const rows = await database.db.rows<Place>(sql`
    select id, ${microsOf(sql`created_at`)} as micros from rows
     where true ${olderThan(after, sql`created_at`, sql`id`)} order by created_at desc, id desc limit ${limit + 1}`);
  return toCursorPage(rows, limit, ({ id }) => id);
}

describe('pages by cursor', () => {
  it.each([1, 3, 7, 25, 50])('show every row once, in order, %i at a time', async (limit) => {
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages <= 50; pages++) {
      const { data, nextCursor } = await page({ limit, ...(cursor !== undefined && { cursor }) });
      seen.push(...data);
      if (nextCursor === null) break;
      cursor = nextCursor;
    }
    const all = await database.db.rows<{ id: string }>(sql`select id from rows order by created_at desc, id desc`);
    expect(seen).toEqual(all.map(({ id }) => id));
  });

  it('have 25 rows unless told otherwise, and 100 at most', () => {
    expect(readCursor({}).limit).toBe(25);
    expect(readCursor({ limit: 5_000 }).limit).toBe(100);
  });

  it.each(['x', 'MTIz', Buffer.from('1e9 row_1').toString('base64url'), Buffer.from('1 ').toString('base64url')])(
    'refuse a cursor that no page gave: %s',
    (cursor) => {
      expect(() => readCursor({ cursor })).toThrow('query.cursor must be the nextCursor of the page before.');
    },
  );
});
