import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseAccount, isRoot } from './account.ts';
import { choosePlace } from './place.ts';

let root: string;
let shared: string;
const log = vi.fn();
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'svc-place-'));
  chmodSync(root, 0o755);
  shared = path.join(root, 'var');
});
afterEach(() => {
  log.mockReset();
  rmSync(root, { recursive: true, force: true });
});

const place = (dataDir: string) => choosePlace(dataDir, log, shared);
const modeOf = (folder: string) => statSync(folder).mode & 0o777;

describe('the place of the data', () => {
  it('is the folder postgres inside the data folder, which is made when missing', () => {
    const dataDir = path.join(root, 'project', '.svc');
    expect(place(dataDir)).toMatchObject({
      folder: path.join(dataDir, 'postgres'),
      data: path.join(dataDir, 'postgres', 'data'),
      passwordFile: path.join(dataDir, 'postgres', 'password'),
    });
    expect(log).not.toHaveBeenCalled();
  });

  it('is the same however the folder is written', () => {
    mkdirSync(path.join(root, 'a'));
    expect(place(`${root}/a/../a/`)).toEqual(place(path.join(root, 'a')));
  });
});

describe.runIf(isRoot())('the place of the data, as root', () => {
  const closed = () => {
    const project = path.join(root, 'closed');
    mkdirSync(project, { mode: 0o700, recursive: true });
    return path.join(project, '.svc');
  };

  it('is elsewhere when the user of the database cannot enter, logs that, and leaves the closed folder closed', () => {
    const dataDir = closed();
    const { folder, account } = place(dataDir);
    expect(folder.startsWith(shared)).toBe(true);
    expect(account).toEqual(chooseAccount());
    expect(log.mock.calls).toEqual([[expect.stringContaining(folder)]]);
    expect(modeOf(path.dirname(dataDir))).toBe(0o700);
    expect(modeOf(path.dirname(folder))).toBe(0o755);
  });

  it('is another one for another project', () => {
    const first = place(closed()).folder;
    expect(place(path.join(closed(), 'other')).folder).not.toBe(first);
  });

  it('stays where the data is when the folder is opened later', () => {
    const dataDir = closed();
    const before = place(dataDir);
    mkdirSync(before.data, { recursive: true });
    chmodSync(path.dirname(dataDir), 0o755);
    expect(place(dataDir).folder).toBe(before.folder);
  });

  it('is refused, not replaced by an empty one, when existing data was closed off', () => {
    const dataDir = path.join(root, 'open', '.svc');
    const { data } = place(dataDir);
    mkdirSync(data, { recursive: true });
    expect(() => place(dataDir)).toThrow('It must not be root');
  });

  it('makes its folders passable even under a strict umask', () => {
    const before = process.umask(0o077);
    try {
      expect(place(path.join(root, 'strict', '.svc')).folder.startsWith(shared)).toBe(false);
    } finally {
      process.umask(before);
    }
  });
});
