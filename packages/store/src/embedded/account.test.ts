import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { chooseAccount, reachable } from './account.ts';

const root = mkdtempSync(path.join(tmpdir(), 'svc-account-'));
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const line = (name: string, uid: number) => `${name}:x:${uid}:${uid}::/:/bin/sh`;

describe('the account for PostgreSQL under root', () => {
  it.each([
    ['postgres before all others', ['root', 'ana', 'nobody', 'postgres'], 'postgres'],
    ['nobody where there is no postgres', ['root', 'ana', 'nobody'], 'nobody'],
    ['any unprivileged one where there is neither', ['root', 'ana', 'eva'], 'ana'],
  ])('is %s', (_, names, expected) => {
    const passwd = names.map((name, index) => line(name, index * 100)).join('\n');
    expect(chooseAccount(passwd).name).toBe(expected);
  });

  it('is never root: without another account there is a clear error', () => {
    expect(() => chooseAccount(`${line('root', 0)}\n`)).toThrow('DATABASE_URL');
  });
});

describe('a folder is reachable', () => {
  const stranger = { name: 'stranger', uid: 59_999, gid: 59_999 };
  const folder = path.join(root, 'closed', 'inner');
  mkdirSync(folder, { recursive: true, mode: 0o755 });

  it.each([
    ['for everybody', 0o711, stranger, true],
    ['for its owner only', 0o700, stranger, false],
    ['for its owner', 0o700, { ...stranger, uid: process.getuid?.() ?? 0 }, true],
    ['for its group', 0o710, { ...stranger, gid: process.getgid?.() ?? 0 }, true],
    ['when its parent shuts the group out', 0o701, { ...stranger, gid: process.getgid?.() ?? 0 }, false],
  ])('%s', (_, mode, account, expected) => {
    chmodSync(path.join(root, 'closed'), mode);
    expect(reachable(folder, account)).toBe(expected);
    expect(reachable(path.join(folder, 'not', 'made', 'yet'), account)).toBe(expected);
  });
});
