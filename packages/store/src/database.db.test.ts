import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Database, type Db } from './database.ts';
import { type Sql, sql } from './sql.ts';
import { runAs } from './tenant.ts';
import { TestDatabase } from './testing/index.ts';

let test: TestDatabase;
let db: Database;

beforeAll(async () => {
  test = await TestDatabase.create([]);
  db = test.db;
  await db.run(sql`create table note (id int primary key, text text not null)`);
});
afterAll(() => test.drop());

const put = (id: number, text = 'x'): Sql => sql`insert into note (id, text) values (${id}, ${text})`;
const textOf = async (id: number) =>
  (await db.one<{ text: string }>(sql`select text from note where id = ${id}`))?.text;
const backendOf = async (on: Db) => (await on.one<{ pid: number }>(sql`select pg_backend_pid() as pid`))?.pid;
const terminate = (pid: number | undefined) => db.run(sql`select pg_terminate_backend(${pid}, 5000)`);

describe('values', () => {
  it('are exact: int8 as bigint, numeric and date as text, timestamptz as Date, jsonb parsed', async () => {
    const row = await db.one(sql`
      select 9007199254740993::int8 as big, 0.10::numeric as exact, timestamptz '2026-01-02 03:04:05.678Z' as at,
             '{"a": [1]}'::jsonb as data, date '2026-01-02' as day, array[1, null]::int8[] as bigs, array[1.50] as exacts`);
    expect(row).toEqual({
      big: 9007199254740993n,
      exact: '0.10',
      at: new Date('2026-01-02T03:04:05.678Z'),
      data: { a: [1] },
      day: '2026-01-02',
      bigs: [1n, null],
      exacts: ['1.50'],
    });
  });

  it('are sent as parameters with any content', async () => {
    const nasty = `'); drop table note; -- $1 \\ "quoted" é 🎁`;
    await db.run(put(1, nasty));
    expect(await textOf(1)).toBe(nasty);
    const list = await db.rows(sql`select unnest(${[1n, 2n ** 62n]}::int8[]) as n`);
    expect(list).toEqual([{ n: 1n }, { n: 2n ** 62n }]);
  });

  it('leave the parsers of other libraries as they are', () => {
    expect(pg.types.getTypeParser(pg.types.builtins.INT8)('1')).toBe('1');
  });
});

describe('statements', () => {
  it('answer rows, the first row or none, and how many were changed', async () => {
    expect(await db.run(sql`insert into note values (10, 'a'), (11, 'b')`)).toBe(2);
    expect(await db.rows(sql`select id from note where id in (10, 11) order by id`)).toEqual([{ id: 10 }, { id: 11 }]);
    expect(await db.one(sql`select id from note where id = 10`)).toEqual({ id: 10 });
    expect(await db.one(sql`select id from note where id = 12`)).toBeUndefined();
    expect(await db.run(sql`delete from note where id = 12`)).toBe(0);
  });

  it('are prepared once per connection', async () => {
    const single = connect(test.url, { max: 1 });
    const ask = (id: number) => single.one<{ id: number }>(sql`select ${id}::int as id, 'prepared'`);
    await ask(1);
    await ask(2);
    const found = await single.rows(
      sql`select name from pg_prepared_statements where statement like '%as id, ''prepared'''`,
    );
    expect(found).toHaveLength(1);
    await single.close();
  });

  it('keep their connection when the server refuses one', async () => {
    const single = connect(test.url, { max: 1 });
    const before = await backendOf(single);
    await expect(single.run(sql`select 1 / 0`)).rejects.toMatchObject({ code: '22012' });
    expect(await backendOf(single)).toBe(before);
    await single.close();
  });

  it('work again on their own after a result type changed below a prepared statement', async () => {
    const single = connect(test.url, { max: 1 });
    await single.run(sql`create table shape (a int)`);
    const ask = () => single.rows(sql`select * from shape`);
    await ask();
    await single.run(sql`alter table shape add column b int`);
    await expect(ask()).rejects.toMatchObject({ code: '0A000' });
    expect(await ask()).toEqual([]);
    await single.close();
  });

  it('work again after an idle connection was killed, and the process continues', async () => {
    const single = connect(test.url, { max: 1 });
    const pid = await backendOf(single);
    const lost = new Promise((resolve) => single.pool.once('remove', resolve));
    await terminate(pid);
    await lost;
    expect(await backendOf(single)).not.toBe(pid);
    await single.close();
  });

  it('carry the limits that are set for every connection', async () => {
    const show = async (name: string) => (await db.one<{ v: string }>(sql`select current_setting(${name}) as v`))?.v;
    expect(await show('statement_timeout')).toBe('30s');
    expect(await show('idle_in_transaction_session_timeout')).toBe('1min');
    expect(await show('application_name')).toBe('svc test');
  });

  it('allow to close twice', async () => {
    const other = connect(test.url);
    await Promise.all([other.close(), other.close()]);
    await expect(other.run(sql`select 1`)).rejects.toThrow();
  });
});

describe('a transaction', () => {
  it('stores everything and answers the value of its work', async () => {
    const answer = await db.tx(async (tx) => {
      await tx.run(put(20));
      return tx.run(put(21));
    });
    expect(answer).toBe(1);
    expect([await textOf(20), await textOf(21)]).toEqual(['x', 'x']);
  });

  it('stores nothing when its work throws, and keeps the connection', async () => {
    const single = connect(test.url, { max: 1 });
    const before = await backendOf(single);
    const work = single.tx(async (tx) => {
      await tx.run(put(30));
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    expect(await textOf(30)).toBeUndefined();
    expect(await backendOf(single)).toBe(before);
    await single.close();
  });

  it('throws when a statement failed although the work went on', async () => {
    const work = db.tx(async (tx) => {
      await tx.run(put(40));
      await tx.run(put(40)).catch(() => {});
    });
    await expect(work).rejects.toThrow('nothing of it is stored');
    expect(await textOf(40)).toBeUndefined();
  });

  it('throws when a deferred check fails at the end', async () => {
    await db.run(sql`create table later (n int unique deferrable initially deferred)`);
    const work = db.tx(async (tx) => {
      await tx.run(sql`insert into later values (1), (1)`);
    });
    await expect(work).rejects.toMatchObject({ code: '23505' });
    expect(await db.rows(sql`select n from later`)).toEqual([]);
  });

  it('refuses another transaction inside it', async () => {
    const work = db.tx((tx) => tx.tx(async () => {}));
    await expect(work).rejects.toThrow('A transaction is already open here');
  });

  it('never writes through its handle once it is over', async () => {
    let leaked: Db | undefined;
    await db.tx(async (tx) => {
      leaked = tx;
    });
    await expect(leaked?.run(put(50))).rejects.toThrow('This transaction is over');
    expect(await textOf(50)).toBeUndefined();
  });

  it('runs statements that are sent at once in their order, from the first select on', async () => {
    const texts = await db.tx(async (tx) => {
      const text = () => tx.one<{ text: string }>(sql`select text from note where id = 62`);
      const [before, , first, , second] = await Promise.all([
        text(),
        tx.run(put(62)),
        text(),
        tx.run(sql`update note set text = 'y' where id = 62`),
        text(),
      ]);
      return [before?.text, first?.text, second?.text];
    });
    expect(texts).toEqual([undefined, 'x', 'y']);
  });

  it('holds the lock of a first select until it ends', async () => {
    await db.run(put(63));
    const lock = sql`select from note where id = 63 for update nowait`;
    await db.tx(async (tx) => {
      await tx.rows(lock);
      await expect(db.rows(lock)).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await db.rows(lock)).toHaveLength(1);
  });

  it('leaves nothing behind when one of several statements at once fails', async () => {
    const work = db.tx((tx) => Promise.all([tx.run(put(60)), tx.run(sql`select 1 / 0`), tx.run(put(61))]));
    await expect(work).rejects.toThrow();
    expect([await textOf(60), await textOf(61)]).toEqual([undefined, undefined]);
  });
});

describe('a transaction whose connection is killed', () => {
  it('stores nothing, throws, and gives the pool no broken connection', async () => {
    const single = connect(test.url, { max: 1 });
    const work = single.tx(async (tx) => {
      await tx.run(put(70));
      await terminate(await backendOf(tx));
      await tx.run(put(71));
    });
    await expect(work).rejects.toThrow();
    expect(await single.rows(sql`select id from note where id in (70, 71)`)).toEqual([]);
    await single.close();
  });

  it('does not commit later statements when the work swallows the error', async () => {
    const single = connect(test.url, { max: 1 });
    const work = single.tx(async (tx) => {
      await tx.run(put(80));
      await terminate(await backendOf(tx));
      await tx.run(put(81)).catch(() => {});
      await tx.run(put(82)).catch(() => {});
    });
    await expect(work).rejects.toThrow();
    expect(await single.rows(sql`select id from note where id in (80, 81, 82)`)).toEqual([]);
    await single.close();
  });

  it('throws when it is lost between the last statement and the commit', async () => {
    const single = connect(test.url, { max: 1 });
    const work = single.tx(async (tx) => {
      await tx.run(put(90));
      await terminate(await backendOf(tx));
    });
    await expect(work).rejects.toThrow();
    expect(await single.rows(sql`select id from note where id = 90`)).toEqual([]);
    await single.close();
  });
});

describe('a tenant whose statements all wait for a lock', () => {
  const LOCK = 4242;

  it('leaves connections to other tenants, to admission and to the probe', async () => {
    const shared = connect(test.url, { max: 4 });
    const holding = sql`select pg_advisory_xact_lock(${LOCK})`;
    const waiting = sql`select from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted`;
    const blocked: Promise<unknown>[] = [];
    await db.tx(async (tx) => {
      await tx.run(holding);
      blocked.push(...Array.from({ length: 8 }, () => runAs('a', () => shared.run(holding))));
      blocked.push(...Array.from({ length: 8 }, () => runAs('a', () => shared.lists.rows(holding))));
      await expect.poll(() => db.rows(waiting)).toHaveLength(4);
      const answers = await runAs('b', () =>
        Promise.all([
          shared.run(sql`select 1`),
          shared.tx((own) => own.run(sql`select 1`)),
          shared.lists.rows(sql`select 1`),
        ]),
      );
      expect(answers).toEqual([1, 1, [{ '?column?': 1 }]]);
      expect(await runAs('a', () => shared.control.run(sql`select 1`))).toBe(1);
      await runAs('a', () => shared.probe());
      expect(await db.rows(waiting)).toHaveLength(4);
    });
    await Promise.all(blocked);
    await shared.close();
  });
});

describe('connections', () => {
  it('counts without waiting for the disk, and stores everything else durably', async () => {
    const setting = sql`select setting, source from pg_settings where name = 'synchronous_commit'`;
    expect(await db.control.one(setting)).toEqual({ setting: 'off', source: 'client' });
    expect(await db.one(setting)).not.toMatchObject({ source: 'client' });
    expect(await db.tx((tx) => tx.one(setting))).not.toMatchObject({ source: 'client' });
  });

  it('keeps the plan of a statement that asks for several keys', async () => {
    const own = connect(db.url, { max: 1 });
    const plans = await own.tx(async (tx) => {
      await tx.run(sql`create temporary table keyed (id integer primary key) on commit drop`);
      await tx.run(sql`insert into keyed select generate_series(1, 10000)`);
      await tx.run(sql`analyze keyed`);
      for (let time = 0; time < 12; time++)
        await tx.rows(sql`select id from keyed where id = any (${[time]}::integer[])`);
      return tx.one(sql`
        select generic_plans as kept, custom_plans as made from pg_prepared_statements
         where statement like 'select id from keyed%'`);
    });
    await own.close();
    expect(plans).toEqual({ kept: 7n, made: 5n });
  });

  it('keeps the settings of the URL, which count more than its own', async () => {
    const other = connect(`${db.url}?options=-c%20work_mem%3D5MB%20-c%20cpu_operator_cost%3D0.01`, {
      max: 1,
      settings: '-c work_mem=6MB -c enable_sort=off',
    });
    const settings = await other.one(sql`
      select current_setting('cpu_operator_cost') as cost, current_setting('work_mem') as memory,
             current_setting('enable_sort') as sort`);
    await other.close();
    expect(settings).toEqual({ cost: '0.01', memory: '5MB', sort: 'off' });
  });

  it('waits for ten seconds at most', async () => {
    expect(await db.one(sql`select current_setting('lock_timeout') as wait`)).toEqual({ wait: '10s' });
  });
});
