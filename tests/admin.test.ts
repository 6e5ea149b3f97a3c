import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send } from './support/client.ts';
import { admin as onItsDatabase } from './support/operator.ts';
import { processEnv, type ServerAddress } from './support/server.ts';
import { type AnyService, TestService } from './support/service.ts';

const run = promisify(execFile);
const ADMIN = path.resolve(import.meta.dirname, '../packages/server/src/admin.ts');
let service: AnyService;
let server: ServerAddress;
beforeAll(async () => {
  service = await TestService.shared();
  server = service.server;
});
afterAll(() => service.stop());

const admin = <T>(...words: string[]) => onItsDatabase<T>(service, ...words);

describe("the operator's commands", () => {
  it('make an organisation whose keys work at once on the running service, until they are revoked', async () => {
    const { id } = await admin<{ id: string }>('organizations', 'create', 'Tienda Ejemplo');
    const keys = await admin<{ publicKey: string; secretKey: string }>('keys', 'create', id, 'production');
    expect(keys.publicKey).toMatch(/^pk_prod_/);
    const headers = { 'x-api-key': keys.publicKey, authorization: `Bearer ${keys.secretKey}` };
    const organization = () => send(`${server.credentials.baseUrl}/organization`, { headers });
    expect((await organization()).body).toMatchObject({ id, name: 'Tienda Ejemplo', environment: 'production' });

    const log = await send(`${server.credentials.baseUrl}/organization/audit-log`, { headers });
    expect(log.body).toMatchObject({
      data: [
        { action: 'key.created', actor: 'operator' },
        { action: 'key.created', actor: 'operator' },
        { action: 'organization.created', actor: 'operator', target: id, changes: { name: 'Tienda Ejemplo' } },
      ],
    });

    const list = await admin<{ id: string; kind: string; last_four: string }[]>('keys', 'list', id);
    expect(JSON.stringify(list)).not.toContain(keys.secretKey);
    const secret = list.find(({ kind }) => kind === 'secret');
    await admin('keys', 'revoke', secret?.id ?? '');
    await expect.poll(async () => (await organization()).status).toBe(401);
  });

  it('change settings, all or none', async () => {
    const { organizationId } = server.credentials;
    const set = (...changes: string[]) => admin('settings', 'set', organizationId, 'production', ...changes);
    const bound = ['jwtIssuer=https://id.example', 'jwtAudience=tienda'];
    await expect(set('jwksUrl=https://id.example/jwks.json')).rejects.toThrow(/jwtIssuer must be set with jwksUrl/);
    await set('jwksUrl=https://id.example/jwks.json', 'giftsNeedSecretKey=true', ...bound);
    await expect(set('jwksUrl=sandbox')).rejects.toThrow(/for development only/);
    await expect(set('toString=1')).rejects.toThrow(/is not a setting/);
    await expect(set('jwtIssuer=x', 'jwksUrl=ftp://x')).rejects.toThrow(/jwksUrl must be an address/);
    expect(await admin('settings', 'show', organizationId, 'production')).toMatchObject({
      jwksUrl: 'https://id.example/jwks.json',
      jwtIssuer: 'https://id.example',
      giftsNeedSecretKey: true,
    });
  });

  it('raise the gas of an organisation, which it cannot do itself', async () => {
    const { id } = await admin<{ id: string }>('organizations', 'create', 'Tienda Grande');
    const keys = await admin<{ publicKey: string; secretKey: string }>('keys', 'create', id, 'production');
    const headers = { 'x-api-key': keys.publicKey, authorization: `Bearer ${keys.secretKey}` };
    const change = (body: object) =>
      send(`${server.credentials.baseUrl}/organization/sponsorship`, { method: 'PATCH', headers, body });
    expect(await change({ dailyStrk: '501' })).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    const set = (...changes: string[]) => admin('sponsorship', 'set', id, 'production', ...changes);
    expect(await set('maxDailyStrk=2000')).toMatchObject({ maxDailyStrk: '2000', dailyStrk: '2000' });
    expect(await change({ dailyStrk: '501' })).toMatchObject({ status: 200, body: { dailyStrk: '501' } });
    await expect(set('maxDailyStrk=much')).rejects.toThrow(/dailyStrk must match/);
    await expect(set('toString=1')).rejects.toThrow(/is not a limit/);
    await set('maxDailyStrk=', 'userDailyWallets=7');
    expect(await admin('sponsorship', 'show', id, 'production')).toMatchObject({
      maxDailyStrk: '500',
      dailyStrk: '500',
      userDailyWallets: 7,
    });
  });

  it('explain themselves when they are not understood', async () => {
    const env = { ...processEnv(), DATABASE_URL: service.database.url };
    const started = (...words: string[]) => run(process.execPath, [ADMIN, ...words], { env });
    await expect(started('organisations')).rejects.toThrow(/There is no such command[\s\S]*npm run admin/);
    expect(JSON.parse((await started('purchases', 'stuck')).stdout)).toEqual(expect.any(Array));
    await expect(admin('organisations')).rejects.toThrow(/There is no such command/);
    await expect(admin('keys', 'create', 'org_none', 'production')).rejects.toThrow(/No organisation has this id/);
  });
});
