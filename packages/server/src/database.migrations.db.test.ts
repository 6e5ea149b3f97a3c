import { sandbox } from '@svc/sandbox';
import { migrate, sql } from '@svc/store';
import { everyPrefix, schemaOf, TestDatabase } from '@svc/store/testing';
import { describe, expect, it } from 'vitest';
import { serverMigrations } from './database.ts';

const sets = [serverMigrations, sandbox.migrations];

/** What stood in the database before the later migrations came. */
const rowsOf = (state: number) => sql`
  with organization as (insert into organizations (id, name) values (${`org_${state}`}, 'Old') returning id)
  insert into environments (organization_id, environment) select id, 'production' from organization`;

describe('the migrations', () => {
  it('lead from every state, with its rows, to the same schema as from nothing', async () => {
    const fresh = await TestDatabase.create(sets);
    const old = await TestDatabase.create([]);
    try {
      const [, ...states] = everyPrefix(serverMigrations);
      // The rows of all states pass all later migrations of one database.
      for (const state of states) {
        await migrate(old.url, [serverMigrations], { upTo: { [serverMigrations.name]: state } });
        await old.db.run(rowsOf(state));
      }
      await migrate(old.url, sets);
      expect(await schemaOf(old.db)).toEqual(await schemaOf(fresh.db));
      const kept = await old.db.rows<{ id: string }>(sql`select organization_id as id from ledger_balances`);
      expect(kept.map(({ id }) => id).toSorted()).toEqual(states.map((state) => `org_${state}`).toSorted());
    } finally {
      await fresh.drop();
      await old.drop();
    }
  });
});
