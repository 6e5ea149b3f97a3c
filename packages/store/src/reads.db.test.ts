import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Database } from './database.ts';
import type { Reads } from './reads.ts';
import { sql } from './sql.ts';
import { runAs } from './tenant.ts';
import { TestDatabase } from './testing/index.ts';

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await TestDatabase.create([]);
  database = connect(test.url, { applicationName: 'reads test' });
  await database.run(sql`create table numbers as select n, n * n as square from generate_series(1, 1000) n`);
});
afterAll(async () => {
  await database.close();
  await test.drop();
});

const square = (n: number) => database.reads.one<{ square: number }>(sql`select square from numbers where n = ${n}`);

describe('shared reads', () => {
  it('give every caller its own answer with many at once', async () => {
    const numbers = Array.from({ length: 500 }, (_, index) => index + 1);
    const answers = await Promise.all(numbers.map(square));
    expect(answers.map((row) => row?.square)).toEqual(numbers.map((n) => n * n));
  });

  it('of one tenant wait for each other, not those of another tenant for all of them', async () => {
    const other = connect(test.url, { applicationName: 'shared reads' });
    const order: string[] = [];
    const slow = () => other.reads.one(sql`select pg_sleep(0.01)`).then(() => order.push('loud'));
    const loud = runAs('loud', () => Array.from({ length: 100 }, slow));
    await runAs('quiet', () => other.reads.one(sql`select 1`)).then(() => order.push('quiet'));
    // Eight before it on its connection, and sixteen on the other while its own stands still.
    expect(order.indexOf('quiet')).toBeLessThanOrEqual(24);
    await Promise.all(loud);
    expect(order).toHaveLength(101);
    await other.close();
  });

  it('keep the fault of one statement from the others', async () => {
    const wrong = database.reads.rows(sql`select 1 / (n - 1) from numbers`);
    const right = Promise.all([square(2), square(3)]);
    await expect(wrong).rejects.toThrow('division by zero');
    expect(await right).toEqual([{ square: 4 }, { square: 9 }]);
    expect(await square(4)).toEqual({ square: 16 });
  });

  it('reconnect after their connections were lost', async () => {
    await Promise.all([square(1), square(2)]);
    const cut = await database.run(sql`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'reads test reads'`);
    expect(cut).toBeGreaterThan(0);
    // Pending statements fail; later ones do not.
    await expect.poll(() => square(5).catch(() => undefined)).toEqual({ square: 25 });
    await expect.poll(() => square(6).catch(() => undefined)).toEqual({ square: 36 });
  });

  it('work again on their own after a result type changed below a prepared statement, and others go on meanwhile', async () => {
    await database.run(sql`create table price (amount int not null)`);
    await database.run(sql`insert into price values (7)`);
    const price = () => database.reads.one(sql`select amount from price`);
    // On both connections.
    expect(await Promise.all([price(), price()])).toEqual([{ amount: 7 }, { amount: 7 }]);
    await database.run(sql`alter table price alter amount type text`);
    const slow = () => database.reads.one(sql`select 'done' as state from pg_sleep(0.05)`);
    const sent = await Promise.allSettled([price(), price(), slow(), slow()]);
    expect(sent).toMatchObject([
      { status: 'rejected', reason: { code: '0A000' } },
      { status: 'rejected', reason: { code: '0A000' } },
      { status: 'fulfilled', value: { state: 'done' } },
      { status: 'fulfilled', value: { state: 'done' } },
    ]);
    expect(await Promise.all([price(), price()])).toEqual([{ amount: '7' }, { amount: '7' }]);
    const open = sql`select from pg_stat_activity where application_name = 'reads test reads'`;
    await expect.poll(() => database.run(open)).toBe(2);
  });

  it('end with the database', async () => {
    const other = connect(test.url);
    await other.reads.one(sql`select 1`);
    await other.close();
    await expect(other.reads.one(sql`select 1`)).rejects.toThrow('closed');
  });
});

describe('lists', () => {
  it('leave shared reads alone while every list connection waits', async () => {
    const order: string[] = [];
    const holder = await database.pool.connect();
    await holder.query('select pg_advisory_lock(7)');
    const slow = Array.from({ length: 8 }, () => database.lists.rows(sql`select pg_advisory_xact_lock_shared(7)`));
    const ended = Promise.all(slow).then(() => order.push('lists'));
    await expect
      .poll(() => database.one(sql`select from pg_locks where locktype = 'advisory' and not granted`))
      .toBeDefined();

    const answers = await Promise.all([square(2), square(3), square(4)]);
    order.push('reads');
    await holder.query('select pg_advisory_unlock(7)');
    holder.release();
    await ended;

    expect(answers).toEqual([{ square: 4 }, { square: 9 }, { square: 16 }]);
    expect(order).toEqual(['reads', 'lists']);
  });

  it('end a statement sooner than other connections do', async () => {
    const timeoutOf = (reads: Reads) => reads.one(sql`select current_setting('statement_timeout') as timeout`);
    expect(await timeoutOf(database.lists)).toEqual({ timeout: '10s' });
    expect(await timeoutOf(database.reads)).toEqual({ timeout: '30s' });
  });

  it('end with the database', async () => {
    const other = connect(test.url);
    await other.lists.one(sql`select 1`);
    await other.close();
    await expect(other.lists.one(sql`select 1`)).rejects.toThrow();
  });
});
