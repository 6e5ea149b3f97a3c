import { execFile } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processEnv, type RunningServer, startServer } from '../support/server.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const ADMIN = path.join(root, 'packages/server/src/admin.ts');
let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
  // The guide looks for the keys where a user's own start leaves them.
  await symlink(server.dataDir, path.join(server.dataDir, '.svc'));
});
afterAll(() => server.stop());

describe('the guide to settings', () => {
  it('is a script that runs as it stands', async () => {
    const text = await readFile(path.join(root, 'docs/settings.md'), 'utf8');
    const script = [...text.matchAll(/```sh\n([\s\S]*?)```/g)]
      .map(([, block = '']) => block)
      .join('\n')
      .replaceAll('http://127.0.0.1:8080', server.origin)
      .replaceAll('curl -sS', 'curl -sS --fail')
      // Each on a line of its own.
      .replaceAll(/^organization /gm, 'echo; organization ');
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: server.dataDir });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const [changed, settings, checked, branded, brand, limited, sponsorship, unlimited, ...others] = answers;
    const [revoked, hidden, made, renamed, removed, credited, log] = others;
    expect(changed).toMatchObject({ notificationEmail: 'avisos@tienda.example', giftsNeedSecretKey: true });
    expect(settings).toEqual(changed);
    expect(checked).toMatchObject({ valid: false, externalUserId: null });
    expect(branded).toMatchObject({ name: 'Tienda Azul', color: '#0b5a9d' });
    expect(brand).toEqual(branded);
    expect(limited).toMatchObject({ userDailyTransactions: 500, allowedEntrypoints: ['transfer', 'approve'] });
    expect(sponsorship).toMatchObject({ ...limited, user: { externalUserId: 'ana' } });
    expect(unlimited).toMatchObject({ userDailyTransactions: null, allowedEntrypoints: null });
    expect(revoked).toEqual({ success: true });
    expect(hidden).toMatchObject({ id: 'pase-recarga', isOffered: false });
    expect(made).toMatchObject({ id: 'agua-recibo', isOwn: true, isOffered: true });
    expect(renamed.name).toBe('Agua del Centro: pago de recibo');
    expect(removed).toEqual({ success: true });
    expect(credited).toMatchObject({ type: 'DEPOSIT', amountUsd: 25 });
    const byCaller = (log.data as { action: string; actor: string }[]).filter(({ actor }) => actor !== 'service');
    expect(byCaller.map(({ action }) => action).slice(0, 3)).toEqual(['sku.deleted', 'sku.updated', 'sku.created']);
    expect(stdout).not.toContain(server.credentials.secretKey);
  });

  it('links only to files that exist', async () => {
    const text = await readFile(path.join(root, 'docs/settings.md'), 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      await expect(readFile(path.resolve(root, 'docs', target)), target).resolves.toBeDefined();
    }
  });
});

describe("the operator's commands", () => {
  const admin = async (...args: string[]) => {
    const env = { ...processEnv(), SVC_DATA_DIR: server.dataDir };
    const { stdout } = await run(process.execPath, [ADMIN, ...args], { env });
    return JSON.parse(stdout);
  };

  it('are judged by the same rules, and stand in the same log', async () => {
    const { id } = await admin('organizations', 'create', 'Tienda Verde');
    const keys = await admin('keys', 'create', id, 'development');
    const set = (change: string) => admin('settings', 'set', id, 'development', change);
    await expect(set('notificationEmail=nobody')).rejects.toThrow(/notificationEmail must match format "email"/);
    await expect(set('jwksUrl=http://127.0.0.1:4000')).rejects.toThrow(/jwksUrl must lead to a public address/);
    await set('jwtIssuer=https://id.example');
    const headers = { 'x-api-key': keys.publicKey, authorization: `Bearer ${keys.secretKey}` };
    const ask = async (place: string) =>
      (await fetch(`${server.credentials.baseUrl}/organization/${place}`, { headers })).json();
    expect(await ask('settings')).toMatchObject({ jwtIssuer: 'https://id.example', notificationEmail: null });
    const log = (await ask('audit-log')) as { data: { actor: string; action: string }[] };
    expect(log.data.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
      'operator settings.updated',
      'operator key.created',
      'operator key.created',
      'operator organization.created',
    ]);
  });
});
