import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { environment, identity } from './command.ts';
import { EmbeddedPostgresError } from './error.ts';
import { readPidFile } from './pid-file.ts';
import type { Place } from './place.ts';
import { serverArguments } from './settings.ts';

/** Recovery after a crash replays up to max_wal_size, seconds on a slow disk. */
export const START_TIMEOUT_MS = 120_000;
export const POLL_MS = 15;
const LOG_LIMIT_BYTES = 1_000_000;
const SHOWN_LOG_CHARACTERS = 2_000;

// Reasons to look again rather than give up: another start was faster, a killed server's children are still ending,
// or the port was taken between finding it free and using it.
const WORTH_ANOTHER_TRY =
  /lock file "postmaster\.pid" (already exists|is empty)|pre-existing shared memory block|could not create any TCP\/IP sockets/;

/** Starts a server and waits until it answers. Undefined: it could not start now, but another try may find it possible. */
export async function launch(
  place: Place,
  binaries: Binaries,
  settings: Readonly<Record<string, string>>,
): Promise<{ pid: number; port: number } | undefined> {
  const log = openLog(place);
  const args = serverArguments(place.data, await freePort(), settings);
  // A process group of its own, so that Ctrl-C in the terminal reaches the service and not the database below it.
  const server = spawn(binaries.postgres, args, {
    ...identity(place.account),
    cwd: place.data,
    env: environment(),
    detached: true,
    windowsHide: true,
    stdio: ['ignore', log.descriptor, log.descriptor],
  });
  closeSync(log.descriptor);
  let failure: Error | undefined;
  server.once('error', (error) => {
    failure = error;
  });
  server.unref();
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const running = readPidFile(place.data);
    if (running?.ready && running.pid === server.pid) return running;
    if (failure || hasEnded(server)) {
      const said = readFileSync(place.logFile, 'utf8').slice(log.start);
      if (WORTH_ANOTHER_TRY.test(said)) return undefined;
      throw notStarted(place, failure?.message ?? said);
    }
    await pause(POLL_MS);
  }
  server.kill('SIGQUIT');
  throw notStarted(place, `it was not ready after ${START_TIMEOUT_MS / 1000} s`);
}

function hasEnded(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}

function notStarted(place: Place, reason: string): EmbeddedPostgresError {
  const shown = reason.trim().slice(-SHOWN_LOG_CHARACTERS);
  return new EmbeddedPostgresError('not_started', `PostgreSQL did not start in ${place.folder}: ${shown}`);
}

// One earlier log is kept; within a run only starts, stops and refused connections are written.
function openLog(place: Place): { descriptor: number; start: number } {
  const size = statSync(place.logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) renameSync(place.logFile, `${place.logFile}.1`);
  return { descriptor: openSync(place.logFile, 'a', 0o600), start: size > LOG_LIMIT_BYTES ? 0 : size };
}

function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const probe = createServer();
  probe.once('error', reject);
  probe.listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
  });
  return promise;
}
