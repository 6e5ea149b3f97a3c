import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { isRoot } from './account.ts';
import { ask, dataOf, PreparedCluster, Servers } from './fixtures/servers.ts';
import { isAlive, readPidFile } from './pid-file.ts';
import { startEmbedded } from './start.ts';

const POSTGRES_15 = '/usr/lib/postgresql/15/bin';
const servers = new Servers();
afterEach(async () => {
  await servers.cleanUp();
  vi.unstubAllEnvs();
});

describe('the embedded PostgreSQL', () => {
  it('makes its data at the first start, keeps it through a stop, and finds it again', async () => {
    const folder = servers.makeFolder();
    const first = await servers.start(folder);
    expect(first.reused).toBe(false);
    expect(first.url).toMatch(/^postgres:\/\/svc:\w{64}@127\.0\.0\.1:\d+\/svc$/);
    await ask(first.url, 'create table kept as select 7 as id');
    const pid = readPidFile(dataOf(folder))?.pid ?? 0;
    await first.stop();
    expect(isAlive(pid)).toBe(false);
    await expect(ask(first.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });

    const second = await servers.start(folder);
    expect(second.reused).toBe(false);
    expect(await ask(second.url, 'select id from kept')).toEqual([{ id: 7 }]);
  });

  it('refuses connections without its password, which only its owner can read', async () => {
    const folder = servers.makeFolder();
    const { url } = await servers.start(folder);
    for (const password of ['wrong', '']) {
      const other = new URL(url);
      other.password = password;
      await expect(ask(other.href, 'select 1')).rejects.toThrow(/password/);
    }
    const rules = await ask(url, 'select distinct type, auth_method from pg_hba_file_rules');
    expect(rules).toEqual([{ type: 'host', auth_method: 'scram-sha-256' }]);
    const ways = await ask(
      url,
      `select name, setting from pg_settings where name in ('listen_addresses', 'unix_socket_directories')`,
    );
    expect(ways.map(({ setting }) => setting).sort()).toEqual(['', '127.0.0.1']);
    expect(statSync(path.join(folder, 'postgres/password')).mode & 0o777).toBe(0o600);
    expect(statSync(dataOf(folder)).mode & 0o777).toBe(0o700);
  });

  it('renews the statistics of grown tables within seconds', async () => {
    const { url } = await servers.start(servers.makeFolder());
    const shown = await ask(
      url,
      `select current_setting('autovacuum_naptime') as every, current_setting('autovacuum') as on`,
    );
    expect(shown).toEqual([{ every: '5s', on: 'on' }]);
  });

  it('is durable by default, and no setting opens another access', async () => {
    const { url } = await servers.start(servers.makeFolder(), { max_connections: '33', listen_addresses: '*' });
    const [shown] = await ask(
      url,
      `
      select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous,
             current_setting('data_checksums') as checksums, current_setting('server_encoding') as encoding,
             current_setting('max_connections') as connections, current_setting('listen_addresses') as addresses`,
    );
    expect(shown).toEqual({
      fsync: 'on',
      synchronous: 'on',
      checksums: 'on',
      encoding: 'UTF8',
      connections: '33',
      addresses: '127.0.0.1',
    });
  });

  it('removes what a killed first start left half made, and nothing of one that is still at it', async () => {
    const folder = servers.makeFolder();
    const gone = spawnSync('true').pid;
    for (const maker of [gone, process.pid, 1]) mkdirSync(path.join(folder, `postgres.new-${maker}-x`));
    utimesSync(path.join(folder, 'postgres.new-1-x'), 0, 0);
    await servers.start(folder);
    expect(readdirSync(folder).sort()).toEqual(['postgres', `postgres.new-${process.pid}-x`]);
  });
});

describe('a data folder', () => {
  const prepared = new PreparedCluster();
  beforeAll(() => prepared.make());
  afterAll(() => prepared.remove());

  it('whose record names a living process that is something else is started all the same', async () => {
    const folder = prepared.copyTo(servers.makeFolder());
    const data = dataOf(folder);
    // Of the same user as the server: PostgreSQL itself would take it for a server and refuse to start.
    const { uid, gid } = statSync(data);
    const other = spawn('sleep', ['60'], isRoot() ? { uid, gid } : {});
    writeFileSync(path.join(data, 'postmaster.pid'), `${other.pid}\n${data}\n1\n1\n\n\n\nready\n`);
    const server = await servers.start(folder);
    expect(await ask(server.url, 'select 1 as alive')).toEqual([{ alive: 1 }]);
    other.kill();
  });

  it('of another major version is refused, and both versions are named', async () => {
    const folder = prepared.copyTo(servers.makeFolder());
    const version = readFileSync(path.join(dataOf(folder), 'PG_VERSION'), 'utf8').trim();
    writeFileSync(path.join(dataOf(folder), 'PG_VERSION'), '9\n');
    const refused = startEmbedded({ dataDir: folder });
    await expect(refused).rejects.toMatchObject({ reason: 'other_version' });
    await expect(refused).rejects.toThrow(
      new RegExp(`made by PostgreSQL 9, .* version ${version}\\..*SVC_POSTGRES_BIN`),
    );
  });

  it.runIf(existsSync(POSTGRES_15))('is served by the programs of SVC_POSTGRES_BIN', async () => {
    vi.stubEnv('SVC_POSTGRES_BIN', POSTGRES_15);
    const { url } = await servers.start(servers.makeFolder());
    expect(await ask(url, `select current_setting('server_version') like '15.%' as fits`)).toEqual([{ fits: true }]);
  });
});
