import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MigrationSet, migrate } from './migrate.ts';
import { sql } from './sql.ts';
import { everyPrefix, schemaOf, TestDatabase } from './testing/index.ts';

const folders = mkdtempSync(path.join(tmpdir(), 'svc-migrations-'));
let test: TestDatabase;
beforeEach(async () => {
  test = await TestDatabase.create([]);
});
afterEach(() => test.drop());
afterAll(() => rmSync(folders, { recursive: true, force: true }));

const FILES = {
  '0001_notes.sql': 'create table note (id int primary key); insert into note values (1);',
  '0002_text.sql': `alter table note add column text text not null default 'a;b';`,
  '0003_index.sql': 'create index note_text on note (text);\ninsert into note values (2);',
};

let count = 0;
function makeSet(files: Record<string, string> = FILES, name = 'core'): MigrationSet {
  const folder = path.join(folders, String(count++));
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
  return { name, folder };
}

const records = () =>
  test.db.rows(sql`select set_name, number, name, length(checksum) as digits from schema_migrations order by 1, 2`);
const tables = async () =>
  (await test.db.rows<{ name: string }>(sql`select tablename as name from pg_tables where schemaname = 'public'`)).map(
    (row) => row.name,
  );

describe('migrate', () => {
  it('brings an empty database to the newest state and records every file', async () => {
    const { applied } = await migrate(test.url, [makeSet()]);
    expect(applied).toEqual(['core/0001_notes', 'core/0002_text', 'core/0003_index']);
    expect(await records()).toEqual([
      { set_name: 'core', number: 1, name: '0001_notes', digits: 64 },
      { set_name: 'core', number: 2, name: '0002_text', digits: 64 },
      { set_name: 'core', number: 3, name: '0003_index', digits: 64 },
    ]);
    expect(await test.db.rows(sql`select id, text from note`)).toEqual([
      { id: 1, text: 'a;b' },
      { id: 2, text: 'a;b' },
    ]);
  });

  it('does nothing when there is nothing to do', async () => {
    const set = makeSet();
    await migrate(test.url, [set]);
    expect(await migrate(test.url, [set])).toEqual({ applied: [] });
  });

  it('reaches the same schema from every earlier state', async () => {
    const set = makeSet();
    await migrate(test.url, [set]);
    const wanted = await schemaOf(test.db);
    expect(wanted).toContain('index CREATE INDEX note_text ON public.note USING btree (text)');
    expect(everyPrefix(set)).toEqual([0, 1, 2]);
    for (const number of everyPrefix(set)) {
      const earlier = await TestDatabase.create([]);
      await migrate(earlier.url, [set], { upTo: { core: number } });
      expect(await schemaOf(earlier.db)).not.toEqual(wanted);
      expect((await migrate(earlier.url, [set])).applied).toHaveLength(3 - number);
      expect(await schemaOf(earlier.db)).toEqual(wanted);
      await earlier.drop();
    }
  });

  it('keeps several sets apart, in the order they are named', async () => {
    const other = makeSet({ '0001_more.sql': 'alter table note add column more int;' }, 'extra');
    const { applied } = await migrate(test.url, [makeSet(), other], { upTo: { core: 1 } });
    expect(applied).toEqual(['core/0001_notes', 'extra/0001_more']);
  });

  it('applies every file exactly once when eight replicas start together', async () => {
    const set = makeSet();
    const results = await Promise.all(Array.from({ length: 8 }, () => migrate(test.url, [set])));
    expect(results.flatMap((result) => result.applied)).toHaveLength(3);
    expect(await records()).toHaveLength(3);
  });

  it('leaves nothing of a file that fails, names it, and keeps the ones before it', async () => {
    const broken = {
      ...FILES,
      '0002_text.sql': 'create table half (id int); insert into note values (3); select 1/0;',
    };
    await expect(migrate(test.url, [makeSet(broken)])).rejects.toThrow(
      'Migration core/0002_text failed and was undone: division by zero',
    );
    expect(await tables()).not.toContain('half');
    expect(await test.db.rows(sql`select id from note`)).toEqual([{ id: 1 }]);
    expect(await records()).toHaveLength(1);
    expect((await migrate(test.url, [makeSet()])).applied).toHaveLength(2);
  });

  it('gives way to a process that holds a table, and is done when the table is free', async () => {
    const set = makeSet();
    await migrate(test.url, [set], { upTo: { core: 1 } });
    const holder = await test.db.pool.connect();
    await holder.query('begin; lock table note in row exclusive mode');
    const migrating = migrate(test.url, [set]);
    const waits = async (wanted: boolean) => {
      for (;;) {
        const found = await test.db.one(sql`
          select from pg_locks where not granted and relation = 'note'::regclass`);
        if ((found !== undefined) === wanted) return;
      }
    };
    await waits(true);
    await waits(false);
    await holder.query('insert into note values (7); commit');
    holder.release();
    expect((await migrating).applied).toEqual(['core/0002_text', 'core/0003_index']);
    expect(await test.db.rows(sql`select id, text from note where id = 7`)).toEqual([{ id: 7, text: 'a;b' }]);
  });

  it('refuses a file that ends its own transaction', async () => {
    const set = makeSet({ '0001_commit.sql': 'create table a (id int); commit;' });
    await expect(migrate(test.url, [set])).rejects.toThrow('must not end its own transaction');
    expect(await records()).toEqual([]);
  });
});

describe('migrate refuses', () => {
  it('a file that has changed since it was applied, before it applies anything else', async () => {
    await migrate(test.url, [makeSet()], { upTo: { core: 2 } });
    const changed = makeSet({ ...FILES, '0002_text.sql': 'alter table note add column words text;' });
    await expect(migrate(test.url, [changed])).rejects.toThrow('core/0002_text has changed since it was applied');
    expect(await records()).toHaveLength(2);
  });

  it('a database that a newer svc has migrated', async () => {
    await migrate(test.url, [makeSet()]);
    const { '0003_index.sql': _, ...older } = FILES;
    await expect(migrate(test.url, [makeSet(older)])).rejects.toThrow('This database was made by a newer svc');
  });

  it.each([
    ['a gap', { '0001_a.sql': '', '0003_c.sql': '' }, 'migration 2 is missing'],
    ['a missing beginning', { '0002_b.sql': '' }, 'migration 1 is missing'],
    ['a number twice', { '0001_a.sql': '', '0001_b.sql': '' }, 'two migrations have the number 1'],
    ['a name without a number', { 'first.sql': '' }, 'named NNNN_what_it_does.sql'],
  ])('%s in the folder', async (_, files, message) => {
    await expect(migrate(test.url, [makeSet(files)])).rejects.toThrow(message);
    expect(await tables()).toEqual([]);
  });

  it('two sets of the same name', async () => {
    await expect(migrate(test.url, [makeSet(), makeSet()])).rejects.toThrow('the same name');
  });
});

describe('a changed line ending', () => {
  it('is no change of a migration', async () => {
    await migrate(test.url, [makeSet()]);
    const windows = Object.entries(FILES).map(([file, text]) => [file, text.replaceAll('\n', '\r\n')]);
    expect(await migrate(test.url, [makeSet(Object.fromEntries(windows))])).toEqual({ applied: [] });
  });
});
