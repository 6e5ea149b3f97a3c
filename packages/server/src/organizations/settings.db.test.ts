import type { Environment } from '@svc/protocol';
import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { newCaller } from '../../testing/organizations.ts';
import { listChanges } from '../audit-log.ts';
import type { Caller } from '../http/call.ts';
import { createApiKey, createOrganization } from './api-keys.ts';
import { createKeys, revokeKey, setSettings, showSettings } from './operator.ts';
import * as store from './organization-store.ts';
import {
  changeSettings,
  faultOfSettings,
  readSettings,
  reportUnboundKeySets,
  type SettingChanges,
  unboundKeySetGauge,
} from './settings.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await serverDatabase();
});
afterAll(() => database.drop());

const change = (caller: Caller, changes: SettingChanges) => database.db.tx((tx) => changeSettings(tx, caller, changes));
const set = (caller: Caller, ...changes: string[]) =>
  setSettings(database.db, caller, changes, { allowLoopback: false });
const audit = async (caller: Caller) => (await listChanges(database.db, caller, { limit: 100, offset: 0 })).entries;
const faultOf = (changes: object, environment: Environment = 'production', allowLoopback = false) =>
  faultOfSettings(changes, environment, { allowLoopback });

it('reports each key set of production without issuer and audience', async () => {
  const { db } = database;
  const [unbound, half, bound, development] = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => createOrganization(db, name)),
  );
  const set = (id: string | undefined, issuer: string | null, audience: string | null, environment = 'production') =>
    db.run(sql`
      update environments set jwks_url = 'https://id.example/jwks', jwt_issuer = ${issuer}, jwt_audience = ${audience}
       where organization_id = ${id} and environment = ${environment}`);
  await set(unbound, null, null);
  await set(half, 'https://id.example', null);
  await set(bound, 'https://id.example', 'svc');
  await set(development, null, null, 'development');
  const warn = vi.fn();
  await reportUnboundKeySets(db.lists, { warn }, new Date('2027-03-31'));
  const message = 'production key set without issuer or audience';
  const reported = [unbound, half].map((organizationId) => [
    { organizationId, refusedFrom: '2027-03-31T00:00:00.000Z' },
    message,
  ]);
  expect(warn.mock.calls).toHaveLength(2);
  expect(warn.mock.calls).toEqual(expect.arrayContaining(reported));
  expect(await unboundKeySetGauge(db.lists).read()).toEqual([{ labels: {}, value: 2 }]);
});

describe('settings of an environment', () => {
  it('begin empty', async () => {
    expect(await readSettings(database.db, await newCaller(database.db))).toEqual({
      environment: 'development',
      notificationEmail: null,
      jwksUrl: null,
      jwtIssuer: null,
      jwtAudience: null,
      jwtUserClaim: 'sub',
      giftsNeedSecretKey: false,
      publicKeyGiftsDailyUsd: null,
      recipientWallets: true,
      recipientAppUrl: null,
      updatedAt: expect.any(String),
    });
  });

  it('keep the public key from spending in production until the organisation allows it, and then bound it', async () => {
    const production = await newCaller(database.db, 'production');
    expect(await readSettings(database.db, production)).toMatchObject({
      giftsNeedSecretKey: true,
      publicKeyGiftsDailyUsd: 100,
    });
    await change(production, { giftsNeedSecretKey: false, publicKeyGiftsDailyUsd: 12.5 });
    expect(await readSettings(database.db, production)).toMatchObject({
      giftsNeedSecretKey: false,
      publicKeyGiftsDailyUsd: 12.5,
    });
    await set(production, 'publicKeyGiftsDailyUsd=');
    expect(await readSettings(database.db, production)).toMatchObject({ publicKeyGiftsDailyUsd: null });
    expect(faultOf({ publicKeyGiftsDailyUsd: 0.0000001 })).toMatch('publicKeyGiftsDailyUsd');
  });

  it('of production have no key set without issuer and audience', async () => {
    const production = await newCaller(database.db, 'production');
    const jwksUrl = 'https://id.example/jwks.json';
    await expect(change(production, { jwksUrl })).rejects.toThrow('body.jwtIssuer must be set with jwksUrl.');
    const bound = { jwksUrl, jwtIssuer: 'https://id.example', jwtAudience: 'tienda' };
    expect(await change(production, bound)).toMatchObject(bound);
    await expect(change(production, { jwtAudience: null })).rejects.toThrow('body.jwtAudience must be set');
    expect(await change(production, { jwksUrl: null, jwtAudience: null })).toMatchObject({ jwksUrl: null });
    const development = await newCaller(database.db);
    expect(await change(development, { jwksUrl })).toMatchObject({ jwksUrl });
  });

  it('change one by one, and null clears one', async () => {
    const caller = await newCaller(database.db);
    await change(caller, { notificationEmail: 'avisos@tienda.example', jwtIssuer: 'https://id.example' });
    await change(caller, { jwtIssuer: null, giftsNeedSecretKey: true });
    expect(await readSettings(database.db, caller)).toMatchObject({
      notificationEmail: 'avisos@tienda.example',
      jwtIssuer: null,
      giftsNeedSecretKey: true,
    });
    const production = { ...caller, environment: 'production' } as const;
    expect(await readSettings(database.db, production)).toMatchObject({ notificationEmail: null });
  });

  it('do not lose one of many changes made at once', async () => {
    const caller = await newCaller(database.db);
    const changes: SettingChanges[] = [
      { notificationEmail: 'a@b.example' },
      { jwtIssuer: 'i' },
      { jwtAudience: 'a' },
      { jwtUserClaim: 'uid' },
      { giftsNeedSecretKey: true },
      { jwksUrl: 'https://id.example/jwks' },
    ];
    await Promise.all(changes.map((one) => change(caller, one)));
    expect(await readSettings(database.db, caller)).toMatchObject(Object.assign({}, ...changes));
    expect(await audit(caller)).toHaveLength(changes.length);
  });

  it('are written into the audit log where they change, and not where they stay', async () => {
    const caller = await newCaller(database.db);
    await change(caller, { jwtIssuer: 'one', jwtUserClaim: 'sub' });
    const before = await readSettings(database.db, caller);
    await change(caller, { jwtIssuer: 'one' });
    expect(await readSettings(database.db, caller)).toEqual(before);
    expect(await audit(caller)).toEqual([
      {
        id: expect.stringMatching(/^aud_/),
        action: 'settings.updated',
        target: null,
        actor: caller.secretKeyId,
        actorName: null,
        changes: { jwtIssuer: 'one' },
        createdAt: expect.any(String),
      },
    ]);
  });
});

describe('a change of settings', () => {
  it.each<[object, RegExp]>([
    [{}, /fewer than 1/],
    [{ notificationEmail: 'nobody' }, /^notificationEmail must match format "email"/],
    [{ notificationEmail: 'a@b' }, /^notificationEmail/],
    [{ notificationEmail: 'a b@c.example' }, /^notificationEmail/],
    [{ notificationEmail: 'a@b.example\nbcc: x@y.example' }, /^notificationEmail/],
    [{ notificationEmail: `${'a'.repeat(250)}@b.example` }, /^notificationEmail/],
    [{ jwksUrl: 'http://id.example/jwks' }, /^jwksUrl must be an address that starts with https/],
    [{ jwksUrl: 'ftp://id.example' }, /^jwksUrl/],
    [{ jwksUrl: 'https://user:password@id.example' }, /^jwksUrl must not contain a user/],
    [{ jwksUrl: 'https://169.254.169.254/jwks' }, /^jwksUrl must lead to a public address/],
    [{ jwksUrl: 'https://127.0.0.1/jwks' }, /^jwksUrl must lead to a public address/],
    [{ jwksUrl: 'http://localhost:4000' }, /^jwksUrl must lead to a public address/],
    [{ jwksUrl: 'sandbox' }, /for development only/],
    [{ jwtIssuer: '' }, /^jwtIssuer/],
    [{ jwtUserClaim: null }, /^jwtUserClaim/],
    [{ jwtUserClaim: 'x'.repeat(201) }, /^jwtUserClaim/],
    [{ giftsNeedSecretKey: 'true' }, /^giftsNeedSecretKey/],
    [{ jwtAudience: 'a\0b' }, /^jwtAudience/],
  ])('is refused, naming the field: %j', (changes, message) => {
    expect(faultOf(changes)).toMatch(message);
  });

  it('may name the sandbox in development, and this machine where the operator allows it', () => {
    expect(faultOf({ jwksUrl: 'sandbox' }, 'development')).toBeUndefined();
    expect(faultOf({ jwksUrl: 'http://127.0.0.1:4000/jwks' }, 'development', true)).toBeUndefined();
    expect(faultOf({ jwksUrl: 'http://10.0.0.1/jwks' }, 'development', true)).toBeDefined();
    expect(faultOf({ jwksUrl: 'https://id.example/jwks', notificationEmail: null })).toBeUndefined();
  });
});

describe("the operator's settings", () => {
  it('are read from text, all or none', async () => {
    const caller = await newCaller(database.db, 'production');
    await set(
      caller,
      'jwksUrl=https://id.example/jwks?a=b',
      'giftsNeedSecretKey=true',
      'jwtUserClaim=uid',
      'jwtIssuer=x',
      'jwtAudience=y',
    );
    expect(await showSettings(database.db, caller)).toMatchObject({
      jwksUrl: 'https://id.example/jwks?a=b',
      giftsNeedSecretKey: true,
      jwtUserClaim: 'uid',
    });
    expect(await set(caller, 'jwtUserClaim=', 'notificationEmail=')).toMatchObject({ jwtUserClaim: 'sub' });
    const before = await showSettings(database.db, caller);
    await expect(set(caller, 'jwtIssuer=y', 'notificationEmail=nobody')).rejects.toThrow(/notificationEmail/);
    await expect(set(caller, 'jwtIssuer')).rejects.toThrow(/not a setting and its value/);
    await expect(set(caller, 'toString=1')).rejects.toThrow(/not a setting/);
    await expect(set(caller, 'giftsNeedSecretKey=yes')).rejects.toThrow(/true or false/);
    await expect(set({ ...caller, organizationId: 'org_none' }, 'jwtIssuer=y')).rejects.toThrow(/No organisation/);
    expect(await showSettings(database.db, caller)).toEqual(before);
  });

  it("stand in the audit log as the operator's doing, and so do keys", async () => {
    const caller = await newCaller(database.db);
    await set(caller, 'jwtIssuer=x');
    const keys = await createKeys(database.db, caller);
    const row = await store.findPublicKey(database.db, keys.publicKey);
    expect(await revokeKey(database.db, row?.id ?? '')).toBe(true);
    expect(await revokeKey(database.db, row?.id ?? '')).toBe(false);
    expect(await revokeKey(database.db, 'key_none')).toBe(false);
    const entries = await audit(caller);
    expect(entries.map(({ action, actor }) => `${actor} ${action}`)).toEqual([
      'operator key.revoked',
      'operator key.created',
      'operator key.created',
      'operator settings.updated',
    ]);
    expect(JSON.stringify(entries)).not.toContain(keys.secretKey);
    expect(entries[0]).toMatchObject({ target: row?.id, changes: { kind: 'public', key: keys.publicKey } });
  });

  it('revoke a key after what it is doing to keys, so that it leaves none behind', async () => {
    const caller = await newCaller(database.db);
    const waiting = async () =>
      (
        await database.db.rows(sql`select from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database()`)
      ).length;
    let revoked: Promise<boolean> | undefined;
    await database.db.tx(async (tx) => {
      await createApiKey(tx, caller, 'secret');
      revoked = revokeKey(database.db, caller.secretKeyId ?? '');
      await expect.poll(waiting, { interval: 5 }).toBe(1);
    });
    expect(await revoked).toBe(true);
    expect((await audit(caller)).map(({ action }) => action)).toEqual(['key.revoked', 'key.created']);
  });
});
