import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from './support/assertions.ts';
import { send } from './support/client.ts';
import { processEnv, type RunningServer, startServer } from './support/server.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '..');
const source = (name: string) => path.join(root, 'packages/server/src', name);
const LOCAL = 'http://127.0.0.1:4000/hook';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

interface Keys {
  readonly publicKey: string;
  readonly secretKey: string;
}

const ask = ({ publicKey, secretKey }: Keys, method: string, place: string, body: object) =>
  send(`${server.credentials.baseUrl}/organization/${place}`, {
    ...{ method, body },
    headers: { 'x-api-key': publicKey, authorization: `Bearer ${secretKey}` },
  });

async function productionKeys(): Promise<Keys> {
  const { organizationId } = server.credentials;
  const env = { ...processEnv(), SVC_DATA_DIR: server.dataDir };
  const { stdout } = await run(process.execPath, [source('admin.ts'), 'keys', 'create', organizationId, 'production'], {
    env,
  });
  return JSON.parse(stdout);
}

describe('the embedded default', () => {
  it('lets development, and development only, use addresses on this machine', async () => {
    const { credentials } = server;
    expect((await ask(credentials, 'POST', 'webhooks', { url: LOCAL })).status).toBe(201);
    expect((await ask(credentials, 'PATCH', 'settings', { jwksUrl: LOCAL })).status).toBe(200);
    const production = await productionKeys();
    expectError(await ask(production, 'POST', 'webhooks', { url: LOCAL }), 400, 'invalid_webhook_url');
    const bound = { jwtIssuer: 'https://id.example', jwtAudience: 'tienda' };
    expectError(await ask(production, 'PATCH', 'settings', { jwksUrl: LOCAL, ...bound }), 400, 'invalid_request');
    expectError(
      await ask(credentials, 'POST', 'webhooks', { url: 'http://10.0.0.1/hook' }),
      400,
      'invalid_webhook_url',
    );
  });

  it('writes JSON and no secret key where nobody looks, and its banner in one piece', () => {
    const output = server.output();
    expect(output).not.toContain(server.credentials.secretKey);
    const start = output.indexOf('svc is ready');
    const banner = output.slice(start, output.indexOf('credentials.json', start) + 'credentials.json'.length);
    expect(banner).not.toContain('{"level"');
    for (const name of ['Interface', 'Reference', 'Dashboard', 'Public key', 'credentials.json']) {
      expect(banner).toContain(name);
    }
    for (const line of output.slice(0, output.indexOf('\nsvc is ready')).trim().split('\n')) {
      expect(() => JSON.parse(line), line).not.toThrow();
    }
  });
});

describe('a start', () => {
  const main = (args: string[], env: Record<string, string> = {}) =>
    run(process.execPath, [source('main.ts'), ...args], { env: { ...processEnv(), ...env } });

  it('with --help explains itself and starts nothing', async () => {
    const { stdout } = await main(['--help']);
    for (const word of ['npm start', 'PORT', 'DATABASE_URL', 'docs/operations.md']) expect(stdout).toContain(word);
  });

  it('with an argument that is not known says so', async () => {
    await expect(main(['--port=1'])).rejects.toThrow(/svc did not start: --port=1 is not known\./);
  });
});
