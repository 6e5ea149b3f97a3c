import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { createOrganization, issueKey } from '../organizations/api-keys.ts';
import { revokeKey } from '../organizations/organization-store.ts';
import { CredentialCache } from './authenticate.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await serverDatabase();
});
afterAll(() => database.drop());

async function newKey() {
  const organizationId = await createOrganization(database.db, 'Cache');
  return issueKey(database.db, { organizationId, environment: 'development', kind: 'public' });
}

describe('the credential cache', () => {
  it('answers from memory until it is cleared', async () => {
    const cache = new CredentialCache(database.db, () => true);
    const key = await newKey();
    await cache.publicKey(key.value);
    await revokeKey(database.db, key.id);
    expect((await cache.publicKey(key.value))?.revoked_at).toBeNull();
    cache.clear();
    expect((await cache.publicKey(key.value))?.revoked_at).toBeInstanceOf(Date);
  });

  it('reads from the database while no change notifications arrive', async () => {
    let trusted = true;
    const cache = new CredentialCache(database.db, () => trusted);
    const key = await newKey();
    await cache.publicKey(key.value);
    trusted = false;
    await revokeKey(database.db, key.id);
    expect((await cache.publicKey(key.value))?.revoked_at).toBeInstanceOf(Date);
  });

  it('trusts its memory for half a minute at most', async () => {
    let now = 0;
    const cache = new CredentialCache(
      database.db,
      () => true,
      () => now,
    );
    const key = await newKey();
    await cache.publicKey(key.value);
    await revokeKey(database.db, key.id);
    now = 30_001;
    expect((await cache.publicKey(key.value))?.revoked_at).toBeInstanceOf(Date);
  });

  it('does not keep what it read while a change was announced', async () => {
    const key = await newKey();
    const cache = new CredentialCache(database.db, () => true);
    const reading = cache.publicKey(key.value);
    cache.clear();
    await reading;
    await revokeKey(database.db, key.id);
    expect((await cache.publicKey(key.value))?.revoked_at).toBeInstanceOf(Date);
  });
});
