import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
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
});
afterAll(() => server.stop());

describe('the guide to settings', () => {
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
    const keySet = 'jwksUrl=http://127.0.0.1:4000';
    await expect(admin('settings', 'set', id, 'production', keySet)).rejects.toThrow(
      /jwksUrl must lead to a public address/,
    );
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
