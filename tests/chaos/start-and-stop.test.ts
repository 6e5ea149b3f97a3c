import { chmod, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { serverDatabase } from '../../packages/server/testing/database.ts';
import { readPidFile } from '../../packages/store/src/embedded/pid-file.ts';
import { App, field } from '../support/app.ts';
import { caller, send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { newDataDir, type ServerOptions, type ServerProcess, startServer } from '../support/server.ts';

const running: ServerProcess[] = [];
const folders: string[] = [];

async function start(options?: ServerOptions): Promise<ServerProcess> {
  const server = await startServer(options);
  running.push(server);
  return server;
}
async function newFolder(): Promise<string> {
  const folder = await newDataDir();
  folders.push(folder);
  return folder;
}
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

let kept: ServerProcess | undefined;
afterAll(() => kept?.stop());

/** One with the embedded default, which tests may end: the next one starts it again in the same folder. */
async function embedded(): Promise<ServerProcess> {
  const isOver = kept !== undefined && (kept.process.exitCode !== null || kept.process.signalCode !== null);
  if (kept === undefined || isOver) kept = await startServer(kept && { dataDir: kept.dataDir });
  return kept;
}

describe('the embedded default', () => {
  it('needs nothing, prints addresses and the public key, and keeps the secret one for its owner alone', async () => {
    const server = await embedded();
    const { publicKey, secretKey, baseUrl, organizationId, rpcUrl } = server.credentials;
    expect(server.output()).toContain(publicKey);
    expect(server.output()).not.toContain(secretKey);
    expect(server.output()).toMatch(/Secret key +in .*credentials\.json/);
    expect(server.output()).toContain(`${server.origin}/docs`);
    expect(baseUrl).toBe(`${server.origin}/v1`);
    expect(organizationId).toMatch(/^org_/);
    expect(rpcUrl).toBe(`${server.origin}/sandbox/starknet/rpc`);
    const { mode } = await stat(path.join(server.dataDir, 'credentials.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('keeps keys and data over a restart, a kill of the service included', async () => {
    const first = await embedded();
    const balance = field<object>(await caller(first)('/organization'), 'balance');
    await first.end('SIGKILL');
    const second = await embedded();
    const { baseUrl: _first, rpcUrl: _one, ...before } = first.credentials;
    const { baseUrl: _second, rpcUrl: _other, ...after } = second.credentials;
    expect(after).toEqual(before);
    const organization = await caller(second)('/organization');
    expect(organization.body).toMatchObject({ id: before.organizationId, balance });
  });

  it('tells a second one on the same folder what to do', async () => {
    const { dataDir } = await embedded();
    await expect(startServer({ dataDir })).rejects.toThrow(/in use by another svc[\s\S]*SVC_DATA_DIR/);
  });
});

describe('the end of the embedded database', () => {
  it('is answered with 503 and Retry-After until it runs again, and nothing is lost', async () => {
    const server = await embedded();
    const app = new App(server);
    const gift = await app.gift();
    const data = path.join(server.dataDir, 'postgres', 'data');
    onTestFinished(() => chmod(data, 0o700));
    await chmod(data, 0o000);
    process.kill(readPidFile(data)?.pid ?? 0, 'SIGKILL');
    // A connection that has not noticed the end yet may still answer, and cannot open files.
    const refused = await eventually(
      () => app.get('/organization'),
      ({ status }) => status === 503,
    );
    expect(refused.body).toMatchObject({ error: 'service_unavailable' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await send(`${server.origin}/readyz`)).status).toBe(503);
    expect((await send(`${server.origin}/healthz`)).status).toBe(200);

    await chmod(data, 0o700);
    await eventually(
      () => app.get('/organization'),
      ({ status }) => status === 200,
    );
    const body = { walletAddress: '0xb0b1', chain: 'starknet' };
    const paid = await app.post(`/gifts/claim/${gift.code}/redeem`, body);
    expect(paid.body).toMatchObject({ giftRedeem: { status: 'SUCCESS' } });
    await eventually(
      () => send(`${server.origin}/readyz`),
      ({ status }) => status === 200,
    );
  });
});

describe('a start that fails after the first keys were made', () => {
  it('loses none of them: the next one shows them', async () => {
    const busy = await embedded();
    const database = await serverDatabase();
    const dataDir = await newFolder();
    const env = { DATABASE_URL: database.url };
    try {
      const failed = startServer({ env: { ...env, PORT: new URL(busy.origin).port }, dataDir });
      await expect(failed).rejects.toThrow(/port \d+ is in use/);
      const next = await start({ env, dataDir });
      expect(next.output()).toContain(next.credentials.publicKey);
      expect((await caller(next)('/organization')).status).toBe(200);
      await next.end();
    } finally {
      await database.drop();
    }
  });
});

describe('a process that only runs jobs', () => {
  it('serves its health and nothing else, and leaves the credentials of the others alone', async () => {
    const api = await embedded();
    const before = await readFile(path.join(api.dataDir, 'credentials.json'), 'utf8');
    const database = await serverDatabase();
    const worker = await start({ env: { DATABASE_URL: database.url, SVC_ROLE: 'worker' } });
    try {
      expect((await send(`${worker.origin}/readyz`)).status).toBe(200);
      expect((await send(`${worker.origin}/v1/skus`)).status).toBe(404);
      expect(worker.output()).not.toContain('sk_dev_');
      expect(await readFile(path.join(api.dataDir, 'credentials.json'), 'utf8')).toBe(before);
    } finally {
      await worker.end();
      await database.drop();
    }
  });
});

/** A live Starknet, but for its nodes. */
const LIVE = {
  STARKNET_NETWORK: 'mainnet',
  STARKNET_PUBLIC_RPC_URL: 'https://node.example/rpc',
  SVC_CLASS_HASH: '0x5e1f',
  PAYMENT_ADDRESS: '0x77',
};

describe('a start that cannot succeed', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await serverDatabase();
  });
  afterAll(() => database.drop());

  it.each<[string, Record<string, string>, RegExp]>([
    ['with a wrong setting', { PORT: 'abc' }, /PORT must be a whole number/],
    [
      'with a live chain and no way to pay for gas',
      { ...LIVE, STARKNET_RPC_URLS: 'https://node.example/hunter2' },
      /RELAYER_ACCOUNTS must be set/,
    ],
    [
      'with an unreachable database',
      { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' },
      /database[\s\S]*DATABASE_URL/i,
    ],
    [
      'with a broken catalogue',
      { SKU_CATALOGUE: path.join(import.meta.dirname, '../architecture.test.ts') },
      /catalogue[\s\S]*not valid JSON/,
    ],
  ])('%s ends with a sentence, not with a stack, and shows no secret', async (_, env, message) => {
    const failed = startServer({ env: { DATABASE_URL: database.url, ...env }, dataDir: await newFolder() });
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.not.toThrow(/hunter2|\n\s+at /);
  });

  it('with a node of another chain says which one it is, and shows no secret', async () => {
    const { rpcUrl } = (await embedded()).credentials;
    const env = { ...LIVE, STARKNET_RPC_URLS: `${rpcUrl}?key=hunter2`, RELAYER_ACCOUNTS: '0x1:0xc0ffee' };
    const failed = startServer({ env: { DATABASE_URL: database.url, ...env }, dataDir: await newFolder() });
    await expect(failed).rejects.toThrow(/is a node of chain 0x5356435f53414e44424f58, but/);
    await expect(failed).rejects.not.toThrow(/hunter2|c0ffee|\n\s+at /);
  });
});

describe('a stop', () => {
  it('finishes the request in flight, then ends with code 0', async () => {
    const server = await embedded();
    const { hostname, port } = new URL(server.origin);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ sub: 'user-1' });
    const head = `POST /sandbox/identity/token HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    // The head arrives before the signal, the body after it.
    await new Promise<void>((resolve) => socket.write(head + body.slice(0, 3), () => resolve()));
    await send(`${server.origin}/healthz`);
    const ended = server.end('SIGTERM');
    socket.write(body.slice(3));
    await closed;
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*"token"/);
    expect(await ended).toBe(0);
  });

  it('takes the database down last and leaves nothing running', async () => {
    const server = await embedded();
    const pidFile = path.join(server.dataDir, 'postgres/data/postmaster.pid');
    const pid = Number((await readFile(pidFile, 'utf8')).split('\n')[0]);
    expect(() => process.kill(pid, 0)).not.toThrow();
    expect(await server.end('SIGINT')).toBe(0);
    expect(() => process.kill(pid, 0)).toThrow();
  });
});
