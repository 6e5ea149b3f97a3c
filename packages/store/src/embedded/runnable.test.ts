import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isRoot } from './account.ts';
import { makeRunnable } from './runnable.ts';

let root: string;
const log = vi.fn();
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'svc-runnable-'));
  chmodSync(root, 0o755);
});
afterEach(() => {
  log.mockReset();
  chmodSync(root, 0o755);
  rmSync(root, { recursive: true, force: true });
});

// As npm leaves it without scripts: no links, and here also no execute bits.
function makePackage(): string {
  const native = path.join(root, 'package', 'native');
  for (const folder of ['bin', 'lib']) mkdirSync(path.join(native, folder), { recursive: true });
  for (const file of ['bin/postgres', 'bin/initdb', 'lib/libpq.so.5.18']) {
    writeFileSync(path.join(native, file), '', { mode: 0o644 });
  }
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
  writeFileSync(path.join(native, 'pg-symlinks.json'), JSON.stringify(links));
  return native;
}

const prepare = (native: string, account?: { name: string; uid: number; gid: number }) =>
  makeRunnable({ native, version: '18-test' }, { account, copyRoot: path.join(root, 'copies'), log });

function expectRunnable(native: string): void {
  expect(readlinkSync(path.join(native, 'lib/libpq.so.5'))).toBe('libpq.so.5.18');
  expect(statSync(path.join(native, 'bin/postgres')).mode & 0o777).toBe(0o755);
  expect(statSync(path.join(native, 'bin/initdb')).mode & 0o777).toBe(0o755);
}

describe('the programs of the package', () => {
  it('get the links and modes that its install script would have made, in place', () => {
    const native = makePackage();
    expect(prepare(native)).toBe(native);
    expect(prepare(native)).toBe(native);
    expectRunnable(native);
    expect(log).not.toHaveBeenCalled();
  });

  it('are copied once, complete and open to all, where the user of the database cannot enter', () => {
    const native = makePackage();
    chmodSync(path.dirname(native), 0o700);
    chmodSync(path.join(native, 'lib'), 0o700);
    const stranger = { name: 'stranger', uid: 59_999, gid: 59_999 };
    const copy = prepare(native, stranger);
    expect(copy).toBe(path.join(root, 'copies', 'postgres-18-test'));
    expectRunnable(copy);
    expect(statSync(path.join(copy, 'lib')).mode & 0o777).toBe(0o755);
    expect(prepare(native, stranger)).toBe(copy);
    expect(log).toHaveBeenCalledTimes(1);
    expect(readdirSync(path.join(root, 'copies'))).toEqual(['postgres-18-test']);
    expect(statSync(path.dirname(native)).mode & 0o777).toBe(0o700);
  });

  it.skipIf(isRoot())('are copied where the package may not be written', () => {
    const native = makePackage();
    chmodSync(path.join(native, 'lib'), 0o555);
    expectRunnable(prepare(native));
    expect(readdirSync(path.join(native, 'lib'))).toEqual(['libpq.so.5.18']);
    chmodSync(path.join(native, 'lib'), 0o755);
  });
});
