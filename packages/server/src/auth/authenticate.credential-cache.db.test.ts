import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { createOrganization, issueKey } from '../organizations/api-keys.ts';
import { revokeKey } from '../organizations/organization-store.ts';
import { type Authenticator, CredentialCache, createAuthenticate } from './authenticate.ts';

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

describe('the caller of a secret key', () => {
  const startAt = async (start: number) => {
    const organizationId = await createOrganization(database.db, 'Caller');
    const target = { organizationId, environment: 'development' } as const;
    const publicKey = await issueKey(database.db, { ...target, kind: 'public' });
    const secretKey = await issueKey(database.db, { ...target, kind: 'secret' });
    const clock = { now: start };
    const credentials = new CredentialCache(
      database.db,
      () => true,
      () => clock.now,
    );
    const authenticate = createAuthenticate({ credentials } as unknown as Authenticator);
    const socket = {};
    const ask = (key: string | undefined, secret: string, access: 'secret' | 'either' = 'secret') => {
      const headers = { ...(key !== undefined && { 'x-api-key': key }), authorization: `Bearer ${secret}` };
      return authenticate({ access, method: 'GET' }, { headers, ip: '203.0.113.1', socket });
    };
    return { publicKey, secretKey, clock, credentials, ask };
  };
  const refused = { code: 'invalid_api_key' };

  it('is remembered until a change is announced', async () => {
    const { publicKey, secretKey, credentials, ask } = await startAt(0);
    const caller = await ask(publicKey.value, secretKey.value);
    expect(caller).toMatchObject({ keyId: publicKey.id, secretKeyId: secretKey.id, proof: 'secret key' });
    expect(await ask(publicKey.value, secretKey.value)).toBe(caller);
    await revokeKey(database.db, secretKey.id);
    credentials.clear();
    await expect(ask(publicKey.value, secretKey.value)).rejects.toMatchObject(refused);
  });

  it('is not remembered for half a minute after an announcement was missed, however old its keys were', async () => {
    const { publicKey, secretKey, clock, credentials, ask } = await startAt(0);
    await credentials.secretKey(secretKey.value);
    await revokeKey(database.db, secretKey.id);
    clock.now = 14_999;
    expect(await ask(publicKey.value, secretKey.value)).toMatchObject({ keyId: publicKey.id });
    clock.now = 30_000;
    await expect(ask(publicKey.value, secretKey.value)).rejects.toMatchObject(refused);
  });

  it('is not that of credentials that only look alike when they are joined', async () => {
    const { secretKey, ask } = await startAt(0);
    expect(await ask(undefined, secretKey.value, 'either')).toMatchObject({ secretKeyId: secretKey.id });
    await expect(ask('undefined', secretKey.value)).rejects.toMatchObject(refused);
  });

  it('is of the very keys that a request sends, also on a connection that sent others before', async () => {
    const [one, other] = [await startAt(0), await startAt(0)];
    await one.ask(one.publicKey.value, one.secretKey.value);
    for (const [key, secret] of [
      [other.publicKey.value, one.secretKey.value],
      [one.publicKey.value, other.secretKey.value],
      [one.publicKey.value, `${one.secretKey.value.slice(0, -1)}-`],
    ] as const) {
      await expect(one.ask(key, secret)).rejects.toMatchObject(refused);
    }
    await expect(one.ask(undefined, one.secretKey.value)).rejects.toMatchObject({ code: 'missing_credentials' });
    expect(await one.ask(one.publicKey.value, one.secretKey.value)).toMatchObject({ keyId: one.publicKey.id });
  });
});
