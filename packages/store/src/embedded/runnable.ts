import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { type Account, reachable } from './account.ts';
import { makeFolder } from './place.ts';

const PROGRAMS = /^(initdb|postgres|pg_ctl)(\.exe)?$/;

interface Options {
  readonly account: Account | undefined;
  readonly copyRoot: string;
  readonly log: (line: string) => void;
}

/** Does the work of the package's install script, in a copy where the package cannot be changed or reached. */
export function makeRunnable(source: { native: string; version: string }, options: Options): string {
  const { account, copyRoot, log } = options;
  if (!account || reachable(source.native, account)) {
    try {
      repair(source.native);
      return source.native;
    } catch (error) {
      if (!isDenied(error)) throw error;
    }
  }
  const copy = path.join(copyRoot, `postgres-${source.version}`);
  if (!existsSync(copy)) {
    log(`The PostgreSQL programs are copied to ${copy}, because ${source.native} cannot be used where it is.`);
    copyTo(source.native, copy);
  }
  return copy;
}

// npm packs no symbolic links; the package lists them for its libraries.
function repair(native: string): void {
  for (const { source, target } of readLinks(native)) {
    const link = path.join(native, path.relative('native', target));
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(path.relative(path.dirname(target), source), link);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
  const bin = path.join(native, 'bin');
  for (const file of readdirSync(bin).filter((name) => PROGRAMS.test(name))) {
    const { mode } = statSync(path.join(bin, file));
    if ((mode & 0o555) !== 0o555) chmodSync(path.join(bin, file), 0o755);
  }
}

function readLinks(native: string): { source: string; target: string }[] {
  const list = path.join(native, 'pg-symlinks.json');
  return existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
}

function copyTo(native: string, copy: string): void {
  const making = `${copy}.new-${process.pid}`;
  makeFolder(path.dirname(copy));
  rmSync(making, { recursive: true, force: true });
  cpSync(native, making, { recursive: true, verbatimSymlinks: true });
  openToAll(making);
  repair(making);
  try {
    renameSync(making, copy);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
}

function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(file, 0o755);
    if (entry.isFile()) chmodSync(file, statSync(file).mode & 0o100 ? 0o755 : 0o644);
  }
}

function isDenied(error: unknown): boolean {
  return hasCode(error, 'EACCES') || hasCode(error, 'EPERM') || hasCode(error, 'EROFS');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
