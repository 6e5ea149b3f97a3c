import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError } from './error.ts';
import { POLL_MS } from './launch.ts';
import { isAlive, readPidFile } from './pid-file.ts';
import type { Place } from './place.ts';

// A fast stop writes out what is in memory, on a slow disk for some seconds.
const FAST_STOP_MS = 30_000;
const IMMEDIATE_STOP_MS = 5_000;
// The server removes its file as its last act; a zombie whose parent never asks for it would look alive for ever.
const LAST_BREATH_MS = 1_000;

/** Fast shutdown: open transactions roll back, everything committed is on disk, and the server is gone when this returns. */
export async function stopServer(pid: number, place: Place, binaries: Binaries): Promise<void> {
  signal(pid, 'SIGINT', place, binaries);
  if (await isGone(pid, place, FAST_STOP_MS)) return;
  signal(pid, 'SIGQUIT', place, binaries);
  if (await isGone(pid, place, IMMEDIATE_STOP_MS)) return;
  throw new EmbeddedPostgresError('not_stopped', `PostgreSQL (process ${pid}) in ${place.folder} did not stop.`);
}

async function isGone(pid: number, place: Place, withinMs: number): Promise<boolean> {
  const left = await until(() => !isAlive(pid) || readPidFile(place.data)?.pid !== pid, withinMs);
  return left && (await until(() => !isAlive(pid), LAST_BREATH_MS).then(() => true));
}

async function until(condition: () => boolean, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > deadline) return false;
    await pause(POLL_MS);
  }
  return true;
}

function signal(pid: number, name: 'SIGINT' | 'SIGQUIT', place: Place, binaries: Binaries): void {
  if (process.platform === 'win32') {
    // Windows has no signals; PostgreSQL's own tool reaches the server another way.
    const mode = name === 'SIGINT' ? 'fast' : 'immediate';
    spawnSync(path.join(path.dirname(binaries.postgres), 'pg_ctl.exe'), ['stop', '-D', place.data, '-m', mode, '-W'], {
      timeout: IMMEDIATE_STOP_MS,
      windowsHide: true,
    });
    return;
  }
  if (isAlive(pid)) process.kill(pid, name);
}
