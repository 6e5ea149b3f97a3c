import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, dataOf, PreparedCluster, Servers } from './fixtures/servers.ts';
import { isAlive, readPidFile } from './pid-file.ts';
import { startEmbedded } from './start.ts';

const servers = new Servers();
const prepared = new PreparedCluster();
beforeAll(() => prepared.make());
afterEach(() => servers.cleanUp());
afterAll(() => prepared.remove());

const LIMIT_MS = 60_000;

async function until<T>(read: () => Promise<T> | T): Promise<T> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(20);
    }
  }
}

function kill(folder: string): number {
  const pid = readPidFile(dataOf(folder))?.pid ?? 0;
  process.kill(pid, 'SIGKILL');
  return pid;
}

describe('a server that ends by itself', () => {
  it('is started again at the same address, with every committed row', async () => {
    const folder = prepared.copyTo(servers.makeFolder());
    const { url } = await servers.start(folder);
    await ask(url, 'create table kept as select 7 as id');
    const pid = kill(folder);
    expect(await until(() => ask(url, 'select id from kept'))).toEqual([{ id: 7 }]);
    expect(readPidFile(dataOf(folder))?.pid).not.toBe(pid);
  });

  it('is started again each time', async () => {
    const folder = prepared.copyTo(servers.makeFolder());
    const { url } = await servers.start(folder);
    for (let round = 0; round < 3; round++) {
      kill(folder);
      expect(await until(() => ask(url, 'select 1 as one'))).toEqual([{ one: 1 }]);
      // The lock of the owner belongs to the new server; without it the next end would not be noticed.
      await until(async () => {
        const owners = await ask(url, `select from pg_stat_activity where application_name like 'svc owner%'`);
        if (owners.length !== 1) throw new Error('not owned');
      });
    }
  });

  it('is tried until it can start, and says why it cannot', async () => {
    const folder = prepared.copyTo(servers.makeFolder());
    const lines: string[] = [];
    const server = await startEmbedded({
      dataDir: folder,
      settings: { fsync: 'off' },
      report: (line) => void lines.push(line),
    });
    const port = Number(new URL(server.url).port);
    chmodSync(dataOf(folder), 0o000);
    kill(folder);
    await until(() => expect(lines.filter((line) => line.includes('cannot be used')).length).toBeGreaterThan(1));
    const intruder = createServer().listen(port, '127.0.0.1');
    chmodSync(dataOf(folder), 0o700);
    await until(() => expect(lines.at(-1)).toContain('its port is taken'));
    await new Promise((resolve) => intruder.close(resolve));
    expect(await until(() => ask(server.url, 'select 1 as one'))).toEqual([{ one: 1 }]);
    expect(lines.at(-1)).toBe('The embedded PostgreSQL runs again.');
    await server.stop();
  });

  it('stays ended once it is stopped, also while it is being started again', async () => {
    const folder = prepared.copyTo(servers.makeFolder());
    const server = await servers.start(folder);
    const pid = kill(folder);
    await until(() => {
      const now = readPidFile(dataOf(folder))?.pid;
      if (now === pid || now === undefined) throw new Error('not started again yet');
    });
    await server.stop();
    const left = readPidFile(dataOf(folder));
    expect(left === undefined || !isAlive(left.pid)).toBe(true);
    await expect(ask(server.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
