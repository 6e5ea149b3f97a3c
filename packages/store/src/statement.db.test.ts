import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectClient, endClient, PIPELINE, types } from './client.ts';
import { type Sql, sql } from './sql.ts';
import { runStatement } from './statement.ts';
import { TestDatabase } from './testing/index.ts';

let test: TestDatabase;
let client: pg.Client;
/** Descriptions that the server sent on the connection, of rows or of none. */
let descriptions: number;
beforeAll(async () => {
  test = await TestDatabase.create([]);
});
afterAll(() => test.drop());
beforeEach(async () => {
  client = await connectClient(test.url, PIPELINE);
  descriptions = 0;
  const { connection } = client as unknown as { connection: pg.Connection };
  for (const message of ['rowDescription', 'noData']) connection.on(message, () => descriptions++);
});
afterEach(() => endClient(client));

const run = (query: Sql) => runStatement(client, query);
const both = (one: number, other: string | null) => sql`select ${one}::int8 as one, ${other}::text as other`;

describe('a statement', () => {
  it('is described by the server once for its connection, and its rows are read alike each time', async () => {
    for (const n of [1, 2, 3]) {
      expect(await run(both(n, 'x'))).toEqual({ rows: [{ one: BigInt(n), other: 'x' }], count: 1 });
    }
    expect(descriptions).toBe(1);
    expect(await run(both(4, null))).toEqual({ rows: [{ one: 4n, other: null }], count: 1 });
  });

  it('is described with those that were sent before its first answer', async () => {
    const sent = [1, 2, 3].map((n) => run(both(n, null)));
    expect((await Promise.all(sent)).map(({ rows }) => rows)).toEqual(
      [1n, 2n, 3n].map((one) => [{ one, other: null }]),
    );
    await run(both(4, null));
    expect(descriptions).toBe(3);
  });

  it('that returns no rows is described once too, and counts what it changed', async () => {
    await run(sql`create temporary table note (id int)`);
    descriptions = 0;
    const put = (count: number) => run(sql`insert into note select generate_series(1, ${count}::int)`);
    expect(await put(3)).toEqual({ rows: [], count: 3 });
    expect(await put(5)).toEqual({ rows: [], count: 5 });
    expect(descriptions).toBe(1);
  });

  it('without a name is described each time', async () => {
    for (const n of [1, 2]) expect((await run(both(n, null).unnamed)).count).toBe(1);
    expect(descriptions).toBe(2);
  });

  it('fails alone, where it is called', async () => {
    const divide = (by: number) => run(sql`select 6 / ${by}::int as share`);
    await divide(1);
    const failing = async function theCaller() {
      await divide(0);
    };
    const [fault, next] = await Promise.all([failing().catch((error: Error) => error), divide(2)]);
    expect(fault).toMatchObject({ code: '22012', message: 'division by zero' });
    expect((fault as Error).stack).toContain('theCaller');
    expect(next.rows).toEqual([{ share: 3 }]);
  });

  it('is refused once its columns have changed, and never read as what they were', async () => {
    await run(sql`create temporary table price (amount int)`);
    await run(sql`insert into price values (7)`);
    const read = () => run(sql`select amount from price`);
    expect((await read()).rows).toEqual([{ amount: 7 }]);
    await run(sql`alter table price alter amount type text`);
    await expect(read()).rejects.toMatchObject({ code: '0A000' });
  });

  it('rejects where a value cannot be read, and leaves the connection as it is', async () => {
    const parser = vi.spyOn(types, 'getTypeParser').mockReturnValueOnce(() => {
      throw new Error('unreadable');
    });
    await expect(run(sql`select 1 as unreadable union all select 2`)).rejects.toThrow('unreadable');
    parser.mockRestore();
    expect((await run(both(1, null))).count).toBe(1);
  });
});
