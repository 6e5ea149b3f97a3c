import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { GiftsBulkState } from '@svc/sdk';
import type { Person } from './csv.ts';
import { CliError, usage } from './failure.ts';

/** What an import has done. It contains gift codes, so only its owner can read the file. */
export interface ImportState {
  readonly version: 1;
  /** Identifies the people, the options and the organisation. */
  readonly digest: string;
  /** By amount in millionths: one request has one amount. */
  readonly orders: Readonly<Record<string, GiftsBulkState>>;
  readonly isDone: boolean;
}

export function digestOf(people: readonly Person[], options: object): string {
  const rows = people.map(({ email, code, micros, language }) => [
    ...[email, code ?? null, String(micros)],
    ...(language === undefined ? [] : [language]),
  ]);
  return createHash('sha256')
    .update(JSON.stringify([options, rows]))
    .digest('hex');
}

/** A new state, or that of the same import which was interrupted. */
export function openState(file: string, digest: string): ImportState {
  if (!existsSync(file)) return { version: 1, digest, orders: {}, isDone: false };
  const state = readState(file);
  if (state.digest === digest) return state;
  throw usage(
    `${file} belongs to another import: the people, the options or the organisation differ. ` +
      'Finish that one with what it was begun with, or name another file with --state.',
  );
}

function readState(file: string): ImportState {
  try {
    const state = JSON.parse(readFileSync(file, 'utf8')) as ImportState;
    if (state.version === 1 && typeof state.digest === 'string' && typeof state.orders === 'object') return state;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new CliError('damaged_state', `${file} is damaged. svc gifts export shows which gifts there are.`);
}

/** Replaces the file at once, and returns when it is on the disk: a gift that was ordered must not be forgotten. */
export function saveState(file: string, state: ImportState): void {
  writePrivate(file, `${JSON.stringify(state)}\n`);
}

export function writePrivate(file: string, content: string | Uint8Array): void {
  const draft = `${file}.${process.pid}`;
  const handle = openSync(draft, 'w', 0o600);
  try {
    writeFileSync(handle, content);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(draft, file);
}

/** Two runs on one state would order the same gifts under two keys. Returns what releases it. */
export function lockState(file: string): () => void {
  const lock = `${file}.lock`;
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx', mode: 0o600 });
      const release = () => rmSync(lock, { force: true });
      process.once('exit', release);
      return () => {
        process.off('exit', release);
        release();
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const holder = Number(readFileSync(lock, 'utf8'));
      if (attempt > 0 || isRunning(holder)) {
        throw new CliError(
          'import_running',
          `Process ${holder} runs this import already. Wait for its end; if there is none, delete ${lock}.`,
        );
      }
      rmSync(lock, { force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
