import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from 'vitest';
import { EmbeddedPostgresError } from './error.ts';
import { ask, dataOf, PreparedCluster, Servers } from './fixtures/servers.ts';
import { readPidFile } from './pid-file.ts';
import { findEmbedded, startEmbedded } from './start.ts';

const prepared = new PreparedCluster();
beforeAll(() => prepared.make());
afterAll(() => prepared.remove());

// The tests wait for PostgreSQL most of the time, so they run at once, each in folders of its own.
function serversOf({ onTestFinished }: TestContext): Servers {
  const servers = new Servers();
  onTestFinished(() => servers.cleanUp());
  return servers;
}

describe.concurrent('while its owner lives', () => {
  it('another start is refused, with the folder and the way out in the message', async (context) => {
    const servers = serversOf(context);
    const folder = prepared.copyTo(servers.makeFolder());
    const owner = await servers.own(folder);
    const refused = await startEmbedded({ dataDir: folder }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(EmbeddedPostgresError);
    expect(refused).toMatchObject({ reason: 'in_use' });
    for (const part of [folder, `process ${owner.pid}`, 'SVC_DATA_DIR', 'DATABASE_URL']) {
      expect(String(refused)).toContain(part);
    }
    expect(await ask(owner.url, 'select 1 as alive')).toEqual([{ alive: 1 }]);
  });

  it('a guest finds its address, and nothing where none runs', async (context) => {
    const servers = serversOf(context);
    const folder = prepared.copyTo(servers.makeFolder());
    expect(await findEmbedded(folder)).toBeUndefined();
    const server = await servers.start(folder);
    expect(await findEmbedded(folder)).toBe(server.url);
    await server.stop();
    expect(await findEmbedded(folder)).toBeUndefined();
  });

  it('its lock is held again after its connection was lost', async (context) => {
    const servers = serversOf(context);
    const folder = prepared.copyTo(servers.makeFolder());
    const { url } = await servers.start(folder);
    const holder = `from pg_stat_activity where application_name like 'svc owner %'
      and pid in (select pid from pg_locks where locktype = 'advisory' and granted)`;
    const [before] = await ask(url, `select pid ${holder}`);
    await ask(url, `select pg_terminate_backend(pid, 5000) ${holder}`);
    await vi.waitFor(async () => {
      const [after] = await ask(url, `select pid ${holder}`);
      expect(after).toBeDefined();
      expect(after).not.toEqual(before);
    }, 60_000);
    await expect(startEmbedded({ dataDir: folder })).rejects.toMatchObject({ reason: 'in_use' });
  });
});

describe.concurrent('of two processes that start at once on an empty folder', () => {
  it('exactly one becomes the owner', async (context) => {
    const servers = serversOf(context);
    const folder = servers.makeFolder();
    const both = await Promise.allSettled([servers.own(folder), servers.own(folder)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { message: 'in_use' } });
    expect(readdirSync(folder)).toEqual(['postgres']);
  });
});

describe.concurrent('when its owner is killed', () => {
  it('the next start takes it over, running and with its way in unchanged', async (context) => {
    const servers = serversOf(context);
    const folder = prepared.copyTo(servers.makeFolder());
    const owner = await servers.own(folder);
    const pid = readPidFile(dataOf(folder))?.pid;
    // The whole process group, as a terminal would: the database is not in it.
    await owner.killGroup();
    const next = await servers.start(folder);
    expect(next).toMatchObject({ reused: true, url: owner.url });
    expect(readPidFile(dataOf(folder))?.pid).toBe(pid);
    await next.stop();
    expect(readPidFile(dataOf(folder))).toBeUndefined();
  });

  it('every row that it acknowledged is there for the next one', async (context) => {
    const servers = serversOf(context);
    const folder = prepared.copyTo(servers.makeFolder());
    const owner = await servers.own(folder, 10_000);
    await owner.written(200);
    await owner.kill();
    const next = await servers.start(folder);
    expect(next.reused).toBe(true);
    await expectRows(next.url, owner.lastWritten());
  });

  it('together with the server, every row that was acknowledged is there at the next start', async (context) => {
    const servers = serversOf(context);
    const folder = prepared.copyTo(servers.makeFolder());
    const owner = await servers.own(folder, 10_000);
    await owner.written(200);
    process.kill(readPidFile(dataOf(folder))?.pid ?? 0, 'SIGKILL');
    await owner.kill();
    const next = await servers.start(folder);
    expect(next.reused).toBe(false);
    await expectRows(next.url, owner.lastWritten());
  });
});

// Rows were written one after the other, so none may be missing up to the last one that was acknowledged.
async function expectRows(url: string, acknowledged: number): Promise<void> {
  const [found] = await ask(url, 'select count(*)::int as rows, max(id) as last from kept');
  expect(found.last).toBeGreaterThanOrEqual(acknowledged);
  expect(found.rows).toBe(found.last);
}
