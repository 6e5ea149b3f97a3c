import { setTimeout } from 'node:timers/promises';
import type { Environment } from '@svc/protocol';
import { sandbox } from '@svc/sandbox';
import { type Database, type Db, grantOwnService, sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll } from 'vitest';
import { protectedTables, serverMigrations } from '../src/database.ts';
import { credit, type LedgerOwner } from '../src/ledger/ledger.ts';
import { newId } from '../src/util/ids.ts';

export function serverDatabase(): Promise<TestDatabase> {
  return TestDatabase.create([serverMigrations, sandbox.migrations]);
}

export const serviceUrl = (ownerUrl: string): Promise<string> => grantOwnService(ownerUrl, protectedTables);

export function useDatabase(): { db: () => Database } {
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    database = await serverDatabase();
  });
  afterAll(() => database?.drop());
  return {
    db: () => {
      if (!database) throw new Error('The database is created in beforeAll.');
      return database.db;
    },
  };
}

/** A new organisation with both of its environments; answers one of them. */
export async function newOwner(
  db: Db,
  { environment = 'development', credits = 0n }: { environment?: Environment; credits?: bigint } = {},
): Promise<LedgerOwner> {
  const organizationId = newId('org');
  await db.run(sql`insert into organizations (id, name) values (${organizationId}, 'Test')`);
  await db.run(sql`
    insert into environments (organization_id, environment)
    values (${organizationId}, 'production'), (${organizationId}, 'development')`);
  const owner = { organizationId, environment };
  if (credits > 0n) await credit(db, { ...owner, type: 'GRANT', amount: credits, reference: 'test credits' });
  return owner;
}

/** Every ledger row of an organisation: equal before and after a refused statement. */
export function everythingOf(db: Db, { organizationId }: LedgerOwner): Promise<unknown[]> {
  return db.rows(sql`
    select to_jsonb(b) as kept from ledger_balances b where organization_id = ${organizationId}
    union all select to_jsonb(e) from ledger_entries e where organization_id = ${organizationId}
    union all select to_jsonb(h) from ledger_holds h where organization_id = ${organizationId}
    order by 1`);
}

/** Starts `later` while the transaction of `first` is open and ends that transaction once `later` waits for it. */
export async function whileOpen<T>(db: Db, first: (tx: Db) => Promise<unknown>, later: () => Promise<T>): Promise<T> {
  const { started } = await db.tx(async (tx) => {
    await first(tx);
    const started = later();
    let isOver = false;
    void started.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    while (!isOver && !(await isBlocked(tx))) await setTimeout(2);
    return { started };
  });
  return started;
}

async function isBlocked(db: Db): Promise<boolean> {
  // Within a transaction, connections opened since the first look are not listed otherwise.
  await db.run(sql`select pg_stat_clear_snapshot()`);
  const row = await db.one(sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`);
  return row !== undefined;
}
