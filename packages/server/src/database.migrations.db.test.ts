import { sandbox } from '@svc/sandbox';
import { migrate, sql } from '@svc/store';
import { everyPrefix, schemaOf, TestDatabase } from '@svc/store/testing';
import { describe, expect, it } from 'vitest';
import { serverMigrations } from './database.ts';

const sets = [serverMigrations, sandbox.migrations];

/** What stood in the database before the later migrations came. */
const earlierRows = sql`
  with organization as (insert into organizations (id, name) values ('org_old', 'Old') returning id)
  insert into environments (organization_id, environment) select id, 'production' from organization`;

describe('the migrations', () => {
  it.each(everyPrefix(serverMigrations))(
    'lead from state %i, with its rows, to the same schema as from nothing',
    async (upTo) => {
      const fresh = await TestDatabase.create(sets);
      const old = await TestDatabase.create([]);
      try {
        await migrate(old.url, [serverMigrations], { upTo: { [serverMigrations.name]: upTo } });
        if (upTo >= 1) await old.db.run(earlierRows);
        await migrate(old.url, sets);
        expect(await schemaOf(old.db)).toEqual(await schemaOf(fresh.db));
        const kept = await old.db.rows(sql`select organization_id from ledger_balances`);
        expect(kept).toHaveLength(upTo >= 1 ? 1 : 0);
      } finally {
        await fresh.drop();
        await old.drop();
      }
    },
  );
});
