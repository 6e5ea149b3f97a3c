import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { findPrograms, isRoot } from '../testing/postgres-programs.ts';

const run = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), 'svc-backup-'));
/** A copy, which the user of PostgreSQL can read. */
const scripts = path.join(folder, 'scripts');
cpSync(import.meta.dirname, scripts, { recursive: true });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const programs = findPrograms();

/** PostgreSQL does not run as root. */
async function shell(text: string): Promise<string> {
  const [command, args] = isRoot
    ? ['runuser', ['-u', 'postgres', '--', 'bash', '-euc', text]]
    : ['bash', ['-euc', text]];
  const env = {
    PATH: `${programs}:${process.env.PATH}`,
    PGHOST: folder,
    PGPORT: '54399',
    PGUSER: 'postgres',
    LC_ALL: 'C',
  };
  const { stdout } = await run(command as string, args as string[], { cwd: folder, env });
  return stdout.trim();
}

describe('archived segments', () => {
  it('are kept once, and another segment of the same name is refused', async () => {
    const archive = (content: string) => {
      writeFileSync(path.join(folder, 'segment'), content);
      return run(path.join(scripts, 'archive.sh'), [
        path.join(folder, 'segment'),
        '000000010000000000000001',
        path.join(folder, 'one'),
      ]);
    };
    await archive('a');
    await archive('a');
    await expect(archive('b')).rejects.toThrow();
    expect(readdirSync(path.join(folder, 'one'))).toEqual(['000000010000000000000001']);
  });
});

describe.skipIf(programs === undefined)('a base backup with its archive', () => {
  it('restores the database to a moment, or to its last segment', async () => {
    if (isRoot) await run('chown', ['postgres', folder]);
    const options = `-c listen_addresses= -c unix_socket_directories=${folder} -p 54399`;
    const start = (data: string, more = '') =>
      shell(`pg_ctl -D ${data} -w -t 100 -l ${folder}/log -o "${options} ${more}" start >/dev/null`);
    const stop = (data: string) => shell(`pg_ctl -D ${data} -m immediate stop >/dev/null`);
    const rows = () => shell(`psql -Atc "select string_agg(n::text, ',' order by n) from t"`);
    const restore = (...args: string[]) => shell(`${scripts}/restore.sh ${folder}/backup ${args.join(' ')}`);

    await shell('initdb -D first -U postgres -A trust --no-sync >/dev/null');
    await start('first', `-c archive_mode=on -c archive_command='${scripts}/archive.sh %p %f ${folder}/backup/wal'`);
    try {
      await shell('psql -qc "create table t(n int); insert into t values (1)"');
      await shell(`${scripts}/base-backup.sh ${folder}/backup 1`);
      await shell('psql -qc "insert into t values (2)"');
      // The base backup is named by whole seconds.
      const moment = await shell(`psql -Atc "select pg_sleep(1.1)" >/dev/null; date -u +%Y-%m-%dT%H:%M:%S.%3NZ`);
      await shell('psql -qc "insert into t values (3)"');
      const name = await shell('psql -Atc "select pg_walfile_name(pg_current_wal_lsn())"');
      await shell('psql -qc "select pg_switch_wal()"');
      await expect.poll(() => existsSync(path.join(folder, 'backup/wal', name)), { timeout: 60_000 }).toBe(true);
      await stop('first');

      await restore('second', moment);
      await start('second');
      expect(await rows()).toBe('1,2');
      await stop('second');
      await restore('third');
      await start('third');
      await expect.poll(rows, { timeout: 60_000 }).toBe('1,2,3');
      await stop('third');
      await expect(restore('third')).rejects.toThrow('is not empty');
      await expect(restore('fourth', '2020-01-01T00:00:00Z')).rejects.toThrow('No base backup ended before');
      await expect(restore('fourth', 'yesterday')).rejects.toThrow('must be in UTC');
    } finally {
      for (const data of ['first', 'second', 'third']) await stop(data).catch(() => undefined);
    }
  });
});
