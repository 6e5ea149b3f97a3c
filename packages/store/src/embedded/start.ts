import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Binaries, findBinaries } from './binaries.ts';
import { ensureCluster, ROLE } from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import { launch, POLL_MS } from './launch.ts';
import { Owner } from './owner.ts';
import { isAlive, readPidFile } from './pid-file.ts';
import { choosePlace, type Place, SHARED_ROOT } from './place.ts';
import { findRunning, urlOf } from './running.ts';

// Fifteen seconds in all: children of a killed server need time to end.
const ATTEMPTS = 50;
const BETWEEN_ATTEMPTS_MS = 300;
const DATABASE = 'svc';
const FAST_STOP_MS = 30_000;
const IMMEDIATE_STOP_MS = 5_000;
// After the server removed its file; a zombie would look alive for ever.
const EXIT_MS = 1_000;

export interface EmbeddedPostgres {
  readonly url: string;
  /** Still running from an earlier start, with its settings; that process is gone. */
  readonly reused: boolean;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly settings?: Record<string, string>;
  readonly log?: (line: string) => void;
  readonly report?: (line: string) => void;
}

interface Server {
  readonly pid: number;
  readonly port: number;
  readonly reused: boolean;
}

/** Creates the cluster or takes over a running server. One that ends by itself is restarted on its port. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, settings = {}, log = () => {}, report = log } = options;
  const place = choosePlace(dataDir, log);
  const copyRoot = place.account ? path.join(SHARED_ROOT, 'programs') : path.resolve(dataDir);
  const binaries = await findBinaries({ account: place.account, copyRoot, log });
  await ensureCluster(place, binaries, settings.fsync !== 'off');
  const { server, owner } = await obtain(place, binaries, settings);
  owner.supervise(async () => {
    if (await findRunning(place)) return;
    report('The embedded PostgreSQL has ended. Starting it again.');
    const started = await launch(place, binaries, settings, server.port);
    if (!started) throw new Error('its processes have not ended, or its port is taken');
    report('The embedded PostgreSQL runs again.');
  }, report);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= owner.retire().then(() => stopServer(readPidFile(place.data)?.pid ?? server.pid, place, binaries));
    return stopping;
  };
  return { url: urlOf(place, server.port, DATABASE), reused: server.reused, stop };
}

/** The URL of the embedded PostgreSQL that runs on dataDir, for a process that does not own it. */
export async function findEmbedded(dataDir: string): Promise<string | undefined> {
  if (!existsSync(dataDir)) return undefined;
  const place = choosePlace(dataDir, () => {});
  const running = await findRunning(place);
  return running && urlOf(place, running.port, DATABASE);
}

async function obtain(
  place: Place,
  binaries: Binaries,
  settings: Record<string, string>,
): Promise<{ server: Server; owner: Owner }> {
  let reason: unknown = 'processes of an earlier one do not end';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const running = await findRunning(place);
    const found = running ?? (await launch(place, binaries, settings));
    try {
      if (found) {
        const owner = await own(found.port, place);
        return { server: { ...found, reused: running !== undefined }, owner };
      }
    } catch (error) {
      // Its owner was stopping the server; the next attempt starts another.
      if (error instanceof EmbeddedPostgresError) throw error;
      reason = error;
    }
    await pause(BETWEEN_ATTEMPTS_MS);
  }
  const message = `PostgreSQL could not start in ${place.folder}: ${reason}. See ${place.logFile}.`;
  throw new EmbeddedPostgresError('not_started', message, { cause: reason });
}

async function own(port: number, place: Place): Promise<Owner> {
  const owner = await Owner.claim(urlOf(place, port, 'postgres'), place.folder);
  try {
    const known = await owner.query('select from pg_database where datname = $1', [DATABASE]);
    if (known.rowCount === 0) await owner.query(`create database ${DATABASE} owner ${ROLE}`);
    return owner;
  } catch (error) {
    await owner.close();
    throw error;
  }
}

/** Open transactions roll back, and the server has ended when this returns. */
async function stopServer(pid: number, place: Place, binaries: Binaries): Promise<void> {
  signal(pid, 'SIGINT', place, binaries);
  if (await isGone(pid, place, FAST_STOP_MS)) return;
  signal(pid, 'SIGQUIT', place, binaries);
  if (await isGone(pid, place, IMMEDIATE_STOP_MS)) return;
  throw new EmbeddedPostgresError('not_stopped', `PostgreSQL (process ${pid}) in ${place.folder} did not stop.`);
}

async function isGone(pid: number, place: Place, withinMs: number): Promise<boolean> {
  const left = await until(() => !isAlive(pid) || readPidFile(place.data)?.pid !== pid, withinMs);
  return left && (await until(() => !isAlive(pid), EXIT_MS).then(() => true));
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
    const mode = name === 'SIGINT' ? 'fast' : 'immediate';
    spawnSync(path.join(path.dirname(binaries.postgres), 'pg_ctl.exe'), ['stop', '-D', place.data, '-m', mode, '-W'], {
      timeout: IMMEDIATE_STOP_MS,
      windowsHide: true,
    });
    return;
  }
  if (isAlive(pid)) process.kill(pid, name);
}
