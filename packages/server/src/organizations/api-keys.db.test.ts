import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { callerOf, newCaller } from '../../testing/organizations.ts';
import { listChanges } from '../audit-log.ts';
import type { Caller } from '../http/call.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import type { KeyKind } from './organization-store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await serverDatabase();
});
afterAll(() => database.drop());

const create = (caller: Caller, kind: KeyKind = 'secret') => database.db.tx((tx) => createApiKey(tx, caller, kind));
const revoke = (caller: Caller, id: string) => database.db.tx((tx) => revokeApiKey(tx, caller, id));
const list = (caller: Caller, limit = 100, offset = 0) => listApiKeys(database.db, caller, { limit, offset });
const audit = async (caller: Caller) =>
  (await listChanges(database.db, caller, { limit: 100, offset: 0 })).entries.map(({ action, target, actor }) => ({
    action,
    target,
    actor,
  }));

describe('keys of an environment', () => {
  it('are listed newest first, public ones whole and secret ones masked', async () => {
    const caller = await newCaller(database.db);
    const made = [await create(caller, 'secret'), await create(caller, 'public')];
    const { keys, total } = await list(caller);
    expect(total).toBe(4);
    expect(keys.slice(0, 2).map(({ id }) => id)).toEqual(made.map(({ id }) => id).reverse());
    const [publicKey, secretKey] = keys;
    expect(publicKey?.key).toMatch(/^pk_dev_[A-Za-z0-9]{36}$/);
    expect(secretKey?.key).toBe(`sk_dev_…${made[0]?.secretKey?.slice(-4)}`);
    expect((await list(caller, 1, 1)).keys.map(({ id }) => id)).toEqual([secretKey?.id]);
  });

  it('are shown whole in one answer alone, and never stored in clear', async () => {
    const caller = await newCaller(database.db);
    const { secretKey } = await create(caller, 'secret');
    expect(secretKey).toMatch(/^sk_dev_[A-Za-z0-9]{36}$/);
    expect((await create(caller, 'public')).secretKey).toBeNull();
    const rows = await database.db.rows(
      sql`select to_jsonb(k) as a from api_keys k union all select to_jsonb(l) from audit_log l`,
    );
    expect(JSON.stringify(rows)).not.toContain(secretKey);
  });

  it('are twenty of a kind at most, however many are asked for at once', async () => {
    const caller = await newCaller(database.db);
    const results = await Promise.allSettled(Array.from({ length: 25 }, () => create(caller, 'secret')));
    // The one that the caller has is counted too.
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(19);
    await expect(create(caller, 'secret')).rejects.toMatchObject({ code: 'key_limit_reached' });
    await create(caller, 'public');
    const [newest] = (await list(caller)).keys.filter(({ kind }) => kind === 'secret');
    await revoke(caller, newest?.id ?? '');
    await create(caller, 'secret');
  });

  it("are of the caller's environment alone", async () => {
    const caller = await newCaller(database.db);
    const production = await callerOf(database.db, caller.organizationId, 'production');
    expect((await create(production)).secretKey).toMatch(/^sk_prod_/);
    expect((await list(caller)).total).toBe(2);
    expect((await list(production)).total).toBe(3);
  });
});

describe('revoking a key', () => {
  it('ends it and says so in the list and in the audit log', async () => {
    const caller = await newCaller(database.db);
    const { id } = await create(caller);
    await revoke(caller, id);
    expect((await list(caller)).keys[0]).toMatchObject({ id, revokedAt: expect.any(String) });
    expect(await audit(caller)).toEqual([
      { action: 'key.revoked', target: id, actor: caller.secretKeyId },
      { action: 'key.created', target: id, actor: caller.secretKeyId },
    ]);
  });

  it('is refused for both keys of the request itself', async () => {
    const caller = await newCaller(database.db);
    for (const id of [caller.keyId, caller.secretKeyId ?? '']) {
      await expect(revoke(caller, id)).rejects.toMatchObject({ code: 'key_in_use' });
    }
    expect(await audit(caller)).toEqual([]);
  });

  it('finds neither unknown nor revoked keys, nor those of others or of the other environment', async () => {
    const caller = await newCaller(database.db);
    const { id: revoked } = await create(caller);
    await revoke(caller, revoked);
    const other = await newCaller(database.db);
    const production = await callerOf(database.db, caller.organizationId, 'production');
    for (const id of ['key_none', revoked, other.keyId, other.secretKeyId ?? '', production.keyId]) {
      await expect(revoke(caller, id)).rejects.toMatchObject({ code: 'key_not_found', status: 404 });
    }
    expect((await list(other)).keys.map(({ revokedAt }) => revokedAt)).toEqual([null, null]);
  });

  it('leaves one of two keys that revoke each other', async () => {
    for (let round = 0; round < 10; round++) {
      const one = await newCaller(database.db);
      const other = await callerOf(database.db, one.organizationId, one.environment);
      const results = await Promise.allSettled([
        revoke(one, other.secretKeyId ?? ''),
        revoke(other, one.secretKeyId ?? ''),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const [refused] = results.filter((result) => result.status === 'rejected');
      expect(refused?.reason).toMatchObject({ code: 'invalid_api_key' });
    }
  });

  it('takes from the key the power to make another in its last moment', async () => {
    const caller = await newCaller(database.db);
    const leaked = await callerOf(database.db, caller.organizationId, caller.environment);
    await revoke(caller, leaked.secretKeyId ?? '');
    // As if it had been let in just before.
    await expect(create(leaked)).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect((await list(caller)).total).toBe(4);
  });
});
