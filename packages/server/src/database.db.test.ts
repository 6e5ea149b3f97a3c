import { connect, type Database, grantService, migrate, sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newOwner, serverDatabase, serviceUrl } from '../testing/database.ts';
import { recordChange } from './audit-log.ts';
import { protectedTables, serverMigrations } from './database.ts';
import { credit } from './ledger/ledger.ts';

let database: TestDatabase;
let service: Database;
let url: string;

beforeAll(async () => {
  database = await serverDatabase();
  url = await serviceUrl(database.url);
  service = connect(url);
});
afterAll(async () => {
  await service?.close();
  await database?.drop();
});

const DENIED = { code: '42501' };

describe("the service's role in the database", () => {
  it('moves credits and writes the audit log', async () => {
    const owner = await newOwner(service, { credits: 5_000_000n });
    await credit(service, { ...owner, type: 'GRANT', amount: 1_000_000n, reference: 'more' });
    await service.tx((tx) => recordChange(tx, { ...owner, keyId: 'operator' }, { action: 'test.done', changes: {} }));
    const [row] = await service.rows(sql`
      select (select count(*)::integer from ledger_entries where organization_id = ${owner.organizationId}) as entries,
             (select count(*)::integer from audit_log where organization_id = ${owner.organizationId}) as changes`);
    expect(row).toEqual({ entries: 2, changes: 1 });
  });

  it.each([
    ['change the schema', sql`alter table wallets add column more text`],
    ['create a table', sql`create table more (id int)`],
    ['create a temporary table', sql`create temporary table more (id int)`],
    ['create a function', sql`create function more() returns int language sql as 'select 1'`],
    ['drop a table', sql`drop table audit_log`],
    ['disable a trigger', sql`alter table ledger_entries disable trigger all`],
    [
      'replace the function of a trigger',
      sql`create or replace function ledger_refuse() returns trigger language plpgsql as 'begin return new; end'`,
    ],
    ['switch triggers off for its session', sql`set session_replication_role = replica`],
    ['update ledger entries', sql`update ledger_entries set amount_micros = 1`],
    ['delete ledger entries', sql`delete from ledger_entries`],
    ['truncate ledger entries', sql`truncate ledger_entries cascade`],
    ['delete balances', sql`delete from ledger_balances`],
    ['delete holds', sql`delete from ledger_holds`],
    ['update the audit log', sql`update audit_log set actor = 'another'`],
    ['delete from the audit log', sql`delete from audit_log`],
    ['truncate the audit log', sql`truncate audit_log`],
    ['rewrite the record of migrations', sql`delete from schema_migrations`],
    ['become the owner', sql`grant pg_write_all_data to current_user`],
    ['read files of the server', sql`select pg_read_file('PG_VERSION')`],
  ])('cannot %s', async (_, statement) => {
    await expect(service.run(statement)).rejects.toMatchObject(DENIED);
  });

  it('sees that no migration is pending, and works without the owner then', async () => {
    expect(await migrate(url, [serverMigrations])).toEqual({ applied: [] });
  });

  it('is refused where it is the owner itself', async () => {
    await expect(grantService(database.url, database.url, protectedTables)).rejects.toThrow(/two roles/);
  });

  it('keeps its rights while they are granted again', async () => {
    await Promise.all([serviceUrl(database.url), serviceUrl(database.url), newOwner(service)]);
    expect(await service.rows(sql`select id from wallets`)).toEqual([]);
  });
});
