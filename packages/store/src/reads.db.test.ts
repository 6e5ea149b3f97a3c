import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Database } from './database.ts';
import { sql } from './sql.ts';
import { createTestDatabase, type TestDatabase } from './testing/index.ts';

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase([]);
  database = connect(test.url, { applicationName: 'reads test' });
  await database.run(sql`create table numbers as select n, n * n as square from generate_series(1, 1000) n`);
});
afterAll(async () => {
  await database.close();
  await test.drop();
});

const square = (n: number) => database.reads.one<{ square: number }>(sql`select square from numbers where n = ${n}`);

describe('shared reads', () => {
  it('give every caller its own answer, however many ask at once', async () => {
    const asked = Array.from({ length: 500 }, (_, index) => index + 1);
    const answers = await Promise.all(asked.map(square));
    expect(answers.map((row) => row?.square)).toEqual(asked.map((n) => n * n));
  });

  it('keep the fault of one statement from the others', async () => {
    const wrong = database.reads.rows(sql`select 1 / (n - 1) from numbers`);
    const right = Promise.all([square(2), square(3)]);
    await expect(wrong).rejects.toThrow('division by zero');
    expect(await right).toEqual([{ square: 4 }, { square: 9 }]);
    expect(await square(4)).toEqual({ square: 16 });
  });

  it('come back after their connections were lost', async () => {
    await Promise.all([square(1), square(2)]);
    const cut = await database.run(sql`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'reads test reads'`);
    expect(cut).toBeGreaterThan(0);
    // Whoever is on the way when the line is cut gets an error; those who come after it do not.
    await expect.poll(() => square(5).catch(() => undefined), { timeout: 10_000 }).toEqual({ square: 25 });
    await expect.poll(() => square(6).catch(() => undefined), { timeout: 10_000 }).toEqual({ square: 36 });
  });

  it('end with the database', async () => {
    const other = connect(test.url);
    await other.reads.one(sql`select 1`);
    await other.close();
    await expect(other.reads.one(sql`select 1`)).rejects.toThrow('closed');
  });
});
