import { chmodSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const MEMORY = '/dev/shm';
const TMPFS = 0x01021994;
/** A run uses a quarter of it. */
const ROOM_BYTES = 4 * 2 ** 30;

/**
 * In memory where the machine has room: a database is some two thousand files, and making them on a disk takes ten times as long.
 * Programs must be able to run there, because the embedded PostgreSQL may copy its own.
 */
export function isInMemory(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY);
    const mount = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === MEMORY);
    return type === TMPFS && bavail * bsize >= ROOM_BYTES && mount !== undefined && !mount.includes('noexec');
  } catch {
    return false;
  }
}

export const temporaryRoots = (): string[] => [...new Set([isInMemory() ? MEMORY : tmpdir(), tmpdir()])];

/** For data of PostgreSQL, whose user can reach it. */
export function temporaryFolder(prefix: string): string {
  const folder = mkdtempSync(path.join(temporaryRoots()[0] ?? tmpdir(), prefix));
  chmodSync(folder, 0o755);
  return folder;
}
