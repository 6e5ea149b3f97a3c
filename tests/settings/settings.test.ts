import { endpoints } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { isAdmitted, send } from '../support/client.ts';
import { type KeySet, nowSeconds, startKeySet } from '../support/credentials.ts';
import type { ServerAddress } from '../support/server.ts';
import { type AnyService, TestService } from '../support/service.ts';

/** A NOTIFY takes milliseconds; on a busy machine longer. */
const POLL = { timeout: 10_000, interval: 20 };

let service: AnyService;
let keySet: KeySet;
/** Two processes on one database. */
let servers: ServerAddress[];
let us: Organization;

beforeAll(async () => {
  service = await TestService.shared();
  keySet = await startKeySet();
  servers = [service.server, await service.anotherHosted()];
  us = await service.organization();
});
afterAll(async () => {
  await service.stop();
  await keySet.close();
});

const onAll = <T>(ask: (server: ServerAddress) => Promise<T>) => Promise.all(servers.map(ask));

describe('settings', () => {
  it('are changed by script, and every process has them', async () => {
    const changes = { notificationEmail: 'avisos@tienda.example', jwtIssuer: 'https://id.tienda.example' };
    const reply = await us.patch('/organization/settings', changes);
    expectAnswer(reply, endpoints.updateSettings);
    expect(reply.body).toMatchObject({ environment: 'development', ...changes, jwtUserClaim: 'sub' });
    for (const shown of await onAll((server) => us.at(server).get('/organization/settings'))) {
      expectAnswer(shown, endpoints.getSettings);
      expect(shown.body).toEqual(reply.body);
    }
    await us.patch('/organization/settings', { notificationEmail: null, jwtIssuer: null });
    expect((await us.get('/organization/settings')).body).toMatchObject({ notificationEmail: null, jwtIssuer: null });
  });

  it('say whose tokens are let in, from one moment to the next, on every process', async () => {
    const token = await keySet.sign({ sub: 'ana', exp: nowSeconds() + 600 });
    const headers = { 'x-api-key': us.keys.publicKey, authorization: `Bearer ${token}` };
    const admitted = () => onAll(({ credentials }) => isAdmitted(credentials.baseUrl, headers));
    expect(await admitted()).toEqual([false, false]);
    expect((await us.patch('/organization/settings', { jwksUrl: keySet.url })).status).toBe(200);
    await expect.poll(admitted, POLL).toEqual([true, true]);
    await us.patch('/organization/settings', { jwtAudience: 'another-app' });
    await expect.poll(admitted, POLL).toEqual([false, false]);
    await us.patch('/organization/settings', { jwtAudience: null, jwksUrl: null });
    // The process that answers has dropped the old settings.
    expect(await isAdmitted(us.baseUrl, headers)).toBe(false);
  });

  it('switch gifts to the secret key alone, on every process', async () => {
    const headers = { 'x-api-key': us.keys.publicKey };
    const statuses = () =>
      onAll(async ({ credentials }) => (await send(`${credentials.baseUrl}/gifts`, { headers })).status);
    expect(await statuses()).toEqual([200, 200]);
    await us.patch('/organization/settings', { giftsNeedSecretKey: true });
    await expect.poll(statuses, POLL).toEqual([401, 401]);
    await us.patch('/organization/settings', { giftsNeedSecretKey: false });
    await expect.poll(statuses, POLL).toEqual([200, 200]);
  });

  it.each([
    [{ jwksUrl: 'http://id.tienda.example/jwks' }, 'body.jwksUrl'],
    [{ jwksUrl: 'https://10.0.0.1/jwks' }, 'body.jwksUrl'],
    [{ notificationEmail: 'nobody' }, 'body.notificationEmail'],
    [{ jwtUserClaim: '' }, 'body.jwtUserClaim'],
  ])('are refused as a whole when one is wrong, and the message names it: %j', async (changes, field) => {
    const before = (await us.get('/organization/settings')).body;
    const reply = await us.patch('/organization/settings', { jwtIssuer: 'not stored', ...changes });
    expectError(reply, 400, 'invalid_request');
    expect((reply.body as { message: string }).message).toContain(field);
    expect((await us.get('/organization/settings')).body).toEqual(before);
  });

  it('of production know no sandbox', async () => {
    const production = await service.organization({ id: us.id, environment: 'production' });
    expectError(await production.patch('/organization/settings', { jwksUrl: 'sandbox' }), 400, 'invalid_request');
    expect((await us.patch('/organization/settings', { jwksUrl: 'sandbox' })).status).toBe(200);
    expect((await production.get('/organization/settings')).body).toMatchObject({
      environment: 'production',
      jwksUrl: null,
    });
  });

  it('lead to this machine only where the operator allows it', async () => {
    const strict = await service.anotherHosted({ ALLOW_LOOPBACK_URLS: 'off' });
    const there = us.at(strict);
    for (const jwksUrl of [keySet.url, 'https://localhost/jwks', 'https://[::1]/jwks', 'https://2130706433/jwks']) {
      expectError(await there.patch('/organization/settings', { jwksUrl }), 400, 'invalid_request');
    }
  });

  it("and their changes are the organisation's own", async () => {
    const others = await service.organization();
    await others.patch('/organization/settings', { jwtIssuer: 'theirs' });
    expect((await us.get('/organization/settings')).body).not.toMatchObject({ jwtIssuer: 'theirs' });
    const reply = await others.get('/organization/audit-log');
    expectAnswer(reply, endpoints.listAuditLog);
    expect(reply.body).toMatchObject({
      total: 1,
      data: [{ action: 'settings.updated', actor: others.keys.secretKeyId, changes: { jwtIssuer: 'theirs' } }],
    });
  });
});
