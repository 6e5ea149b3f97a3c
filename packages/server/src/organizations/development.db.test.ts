import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { balance } from '../ledger/ledger.ts';
import { createOrganization, generateKey, hashSecret, issueKey } from './api-keys.ts';
import { type DevelopmentOptions, draftKeys, ensureDevelopment } from './development.ts';
import * as store from './organization-store.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await serverDatabase();
});
afterEach(() => database.drop());

const options = (change: Partial<DevelopmentOptions> = {}): DevelopmentOptions => ({
  configured: {},
  saved: {},
  replaceLostSecret: true,
  ...change,
});
const ensure = (change?: Partial<DevelopmentOptions>) => ensureDevelopment(database.db, options(change));

describe('the development organisation', () => {
  it('is made once, with keys, 10,000 credits and the sandbox as its identity provider', async () => {
    const made = await ensure();
    expect(made.publicKey).toMatch(/^pk_dev_/);
    expect(made.secretKey).toMatch(/^sk_dev_/);
    const owner = { organizationId: made.organizationId, environment: 'development' } as const;
    expect(await balance(database.db, owner)).toMatchObject({ available: 10_000_000_000n, held: 0n });
    expect(await balance(database.db, { ...owner, environment: 'production' })).toMatchObject({ total: 0n });
    expect(await store.findEnvironment(database.db, made.organizationId, 'development')).toMatchObject({
      jwks_url: 'sandbox',
    });
    expect(await store.findEnvironment(database.db, made.organizationId, 'production')).toMatchObject({
      jwks_url: null,
    });
  });

  it('is one, however many replicas start at once', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => ensure({ replaceLostSecret: false })));
    expect(new Set(made.map(({ organizationId }) => organizationId)).size).toBe(1);
    expect(made.filter(({ secretKey }) => secretKey !== undefined)).toHaveLength(1);
    expect(await database.db.rows(sql`select id from organizations`)).toHaveLength(1);
  });

  it('keeps its keys over restarts', async () => {
    const first = await ensure();
    expect(await ensure({ saved: first })).toEqual(first);
    expect(await store.listKeys(database.db, first.organizationId, 10)).toHaveLength(2);
  });

  it('gets a new secret key when the saved one was lost, on a laptop', async () => {
    const first = await ensure();
    const second = await ensure();
    expect(second).toMatchObject({ organizationId: first.organizationId, publicKey: first.publicKey });
    expect(second.secretKey).not.toBe(first.secretKey);
  });

  it('gets no new secret key behind the back of others on a shared database', async () => {
    await ensure();
    expect((await ensure({ replaceLostSecret: false })).secretKey).toBeUndefined();
  });

  it('forgets saved keys that were revoked or belong to someone else', async () => {
    const first = await ensure();
    const row = await store.findSecretKey(database.db, hashSecret(first.secretKey ?? ''));
    await store.revokeKey(database.db, row?.id ?? '');
    expect((await ensure({ saved: first })).secretKey).not.toBe(first.secretKey);
  });

  it('has only keys that were written down before', async () => {
    const saved = draftKeys();
    expect(await ensure({ saved })).toMatchObject(saved);
    expect(await ensure({ saved, replaceLostSecret: false })).toMatchObject(saved);
  });

  it('takes the keys that the operator wants, at first and later', async () => {
    const configured = {
      publicKey: generateKey('public', 'development'),
      secretKey: generateKey('secret', 'development'),
    };
    expect(await ensure({ configured })).toMatchObject(configured);
    expect(await ensure({ configured })).toMatchObject(configured);
    const others = { publicKey: generateKey('public', 'development'), secretKey: generateKey('secret', 'development') };
    expect(await ensure({ configured: others })).toMatchObject(others);
  });

  it("refuses to take over another organisation's key", async () => {
    const other = await createOrganization(database.db, 'Other');
    const key = await issueKey(database.db, { organizationId: other, environment: 'development', kind: 'public' });
    await expect(ensure({ configured: { publicKey: key.value } })).rejects.toThrow(/SVC_DEV_PUBLIC_KEY/);
  });

  it('stores no secret in clear anywhere', async () => {
    const { secretKey = '' } = await ensure();
    const rows = await database.db.rows(sql`select to_jsonb(k) as row from api_keys k`);
    expect(JSON.stringify(rows)).not.toContain(secretKey);
  });
});
