import { sandbox } from '@svc/sandbox';
import { readMigrations } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { contractionsIn } from '../testing/migration-policy.ts';
import { serverMigrations } from './database.ts';

/** Those before came before the first release, when no two versions had to share a database. */
const firstHeld = { [serverMigrations.name]: 36, [sandbox.migrations.name]: 8 };

describe('a migration', () => {
  const held = [serverMigrations, sandbox.migrations].flatMap((set) =>
    readMigrations(set).filter(({ number }) => number >= (firstHeld[set.name] ?? 0)),
  );

  it.each(held.map(({ name, text }) => [name, text]))(
    'lets the version before go on, or says that it does not: %s',
    (_, text) => {
      expect(contractionsIn(text)).toEqual([]);
    },
  );

  it.each([
    'create table things (id text primary key, gift_id text not null references gifts unique);',
    "create table things (id text);\nalter table things add constraint one check (id <> '');\ncreate unique index on things (id);",
    'alter table gifts add column note text;',
    "alter table gifts add column note text not null default '', add column count integer not null default 0;",
    'alter table gifts add column share numeric(78, 0) not null default 0;',
    'alter table gifts drop constraint kind, add constraint kind check (kind in (1, 2, 3));',
    'create index things_by_note on gifts (note) where note is not null;',
    'drop index gifts_by_name;',
    "comment on table gifts is 'drop table, rename, set not null';",
    '-- drop column note\nselect 1;',
    'create function f() returns trigger language plpgsql as $$ begin drop table x; end $$;',
    'insert into settings values (1); update gifts set note = 1 where id is not null;',
  ])('that only expands is let through: %s', (text) => {
    expect(contractionsIn(text)).toEqual([]);
  });

  it.each([
    'drop table gifts;',
    'alter table gifts drop column note;',
    'alter table gifts rename to presents;',
    'alter table gifts rename column note to text;',
    'alter table gifts alter column note type integer;',
    'alter table gifts alter note set data type integer;',
    'alter table gifts alter column note set not null;',
    'alter table gifts alter column note drop default;',
    'alter table gifts add column note text not null;',
    'alter table gifts add note text not null, add column count integer default 0;',
    'alter table gifts add constraint positive check (amount > 0);',
    'alter table gifts drop constraint positive;',
    'alter table gifts add unique (name);',
    'alter table gifts add foreign key (owner) references organizations;',
    'create unique index on gifts (name);',
    'drop trigger ledger_guard on ledger_entries;',
    'truncate gifts;',
  ])('that the version before cannot work with is refused: %s', (text) => {
    expect(contractionsIn(text)).not.toEqual([]);
    expect(contractionsIn(`-- Contracts: nothing of 0.2 uses it.\n${text}`)).toEqual([]);
    expect(contractionsIn(`-- Contracts:\n${text}`)).not.toEqual([]);
  });
});
