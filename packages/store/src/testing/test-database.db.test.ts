import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sql } from '../sql.ts';
import { TestDatabase } from './index.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'svc-template-'));
const set = { name: 'template-test', folder };
writeFileSync(path.join(folder, '0001_note.sql'), 'create table note (id int primary key);');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a test database', () => {
  it('is migrated, and apart from every other one made at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => TestDatabase.create([set])));
    await Promise.all(all.map(({ db }, index) => db.run(sql`insert into note values (${index})`)));
    const found = await Promise.all(all.map(({ db }) => db.rows(sql`select id from note`)));
    expect(found).toEqual(all.map((_, id) => [{ id }]));
    await Promise.all(all.map((database) => database.drop()));
  });

  it('is gone after drop, also when someone is still connected', async () => {
    const [kept, dropped] = await Promise.all([TestDatabase.create([set]), TestDatabase.create([set])]);
    const name = new URL(dropped.url).pathname.slice(1);
    await dropped.drop();
    expect(await kept.db.rows(sql`select from pg_database where datname = ${name}`)).toEqual([]);
    await kept.drop();
  });

  it('follows its migrations: a changed file makes another template', async () => {
    writeFileSync(path.join(folder, '0002_text.sql'), 'alter table note add column text text;');
    const database = await TestDatabase.create([set]);
    expect(await database.db.rows(sql`select id, text from note`)).toEqual([]);
    await database.drop();
  });
});
