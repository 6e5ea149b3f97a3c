import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { environment, identity } from './command.ts';
import { EmbeddedPostgresError } from './error.ts';
import { readPidFile } from './pid-file.ts';
import type { Place } from './place.ts';

export const START_TIMEOUT_MS = 120_000;
export const POLL_MS = 15;
const LOG_LIMIT_BYTES = 1_000_000;
const MAX_LOG_CHARACTERS = 2_000;

// Another start was faster, children of a killed server are still ending, or the port was taken meanwhile.
const RETRYABLE =
  /lock file "postmaster\.pid" (already exists|is empty)|pre-existing shared memory block|could not create any TCP\/IP sockets/;

const DEFAULTS: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '100',
  shared_buffers: '128MB',
  min_wal_size: '64MB',
  max_wal_size: '512MB',
  jit: 'off',
  // A young database grows fast: statements planned for empty tables would read them whole until a minute has passed.
  autovacuum_naptime: '5s',
  // For disks without heads.
  random_page_cost: '1.1',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Refused statements would put user data into a file.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};

/** Not to be overridden: loopback TCP with the password is the only access. */
const ACCESS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
};

export async function launch(
  place: Place,
  binaries: Binaries,
  settings: Readonly<Record<string, string>>,
  port?: number,
): Promise<{ pid: number; port: number } | undefined> {
  const log = openLog(place);
  const args = serverArguments(place.data, port ?? (await freePort()), settings);
  // Detached: Ctrl-C in the terminal must not reach the database.
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
      const output = readFileSync(place.logFile, 'utf8').slice(log.start);
      if (RETRYABLE.test(output)) return undefined;
      throw notStarted(place, failure?.message ?? output);
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
  const shown = reason.trim().slice(-MAX_LOG_CHARACTERS);
  return new EmbeddedPostgresError('not_started', `PostgreSQL did not start in ${place.folder}: ${shown}`);
}

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

function serverArguments(data: string, port: number, overrides: Readonly<Record<string, string>>): string[] {
  const settings = { ...DEFAULTS, ...overrides, ...ACCESS, port: String(port) };
  return ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
