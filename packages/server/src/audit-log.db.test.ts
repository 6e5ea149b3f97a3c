import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../testing/database.ts';
import { type Actor, listChanges, operatorOf, recordChange } from './audit-log.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await serverDatabase();
});
afterAll(() => database.drop());

const actor = (organizationId: string): Actor => ({ organizationId, environment: 'development', keyId: 'key_public' });
const record = (who: Actor, action: string) =>
  recordChange(database.db, who, { action, changes: { a: { b: [1, null] } } });
const list = (who: Actor, limit = 10, offset = 0) => listChanges(database.db, who, { limit, offset });

describe('the audit log', () => {
  it('lists the changes of one environment, newest first, page by page', async () => {
    const us = actor('org_pages');
    for (const action of ['one', 'two', 'three']) await record(us, action);
    await record({ ...us, environment: 'production' }, 'elsewhere');
    await record(actor('org_others'), 'theirs');
    const { entries, total } = await list(us);
    expect(total).toBe(3);
    expect(entries.map(({ action }) => action)).toEqual(['three', 'two', 'one']);
    expect(entries[0]).toMatchObject({ target: null, changes: { a: { b: [1, null] } } });
    expect((await list(us, 1, 1)).entries.map(({ action }) => action)).toEqual(['two']);
  });

  it('names the secret key where there is one, else the public one, or the operator', async () => {
    const us = actor('org_actors');
    await record({ ...us, secretKeyId: 'key_secret' }, 'secret');
    await record(us, 'public');
    await record(operatorOf('org_actors', 'development'), 'operator');
    expect((await list(us)).entries.map((entry) => entry.actor)).toEqual(['operator', 'key_public', 'key_secret']);
  });

  it('is written with the change or not at all', async () => {
    const us = actor('org_rollback');
    const work = database.db.tx(async (tx) => {
      await recordChange(tx, us, { action: 'never', changes: {} });
      throw new Error('crash before the commit');
    });
    await expect(work).rejects.toThrow('crash');
    expect((await list(us)).total).toBe(0);
  });

  it('cannot be changed', async () => {
    await record(actor('org_permanent'), 'kept');
    for (const statement of [
      sql`update audit_log set actor = 'nobody'`,
      sql`delete from audit_log`,
      sql`truncate audit_log`,
    ]) {
      await expect(database.db.run(statement)).rejects.toThrow(/audit log refuses/);
    }
  });
});
