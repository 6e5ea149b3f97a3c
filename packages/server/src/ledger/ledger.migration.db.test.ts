import { connect, migrate, sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { expect, it } from 'vitest';
import { serverMigrations } from '../database.ts';
import { balance, credit } from './ledger.ts';

const LAST_BEFORE_THE_LEDGER = 2;

it('organisations that are older than the ledger have balances too', async () => {
  const database = await TestDatabase.create([]);
  const { url } = database;
  try {
    await migrate(url, [serverMigrations], { upTo: { svc: LAST_BEFORE_THE_LEDGER } });
    const db = connect(url);
    await db.run(sql`insert into organizations (id, name) values ('org_old', 'Old')`);
    await db.run(sql`insert into environments (organization_id, environment) values ('org_old', 'production')`);
    await migrate(url, [serverMigrations]);
    const owner = { organizationId: 'org_old', environment: 'production' } as const;
    expect((await balance(db, owner)).total).toBe(0n);
    await credit(db, { ...owner, type: 'DEPOSIT', amount: 5n, reference: '0xabc' });
    expect((await balance(db, owner)).total).toBe(5n);
    await db.close();
  } finally {
    await database.drop();
  }
});
