import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Binaries, findBinaries } from './binaries.ts';
import { ensureCluster, ROLE } from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import { launch } from './launch.ts';
import { Owner } from './owner.ts';
import { choosePlace, type Place, SHARED_ROOT } from './place.ts';
import { findRunning, urlOf } from './running.ts';
import { stopServer } from './stop.ts';

// Fifteen seconds in all: long enough for the children of a killed server to end, short enough to tell someone who waits.
const ATTEMPTS = 50;
const BETWEEN_ATTEMPTS_MS = 300;
export const DATABASE = 'svc';

export interface EmbeddedPostgres {
  readonly url: string;
  /** It was still running from an earlier start, whose process is gone. Its settings are those of that start. */
  readonly reused: boolean;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly settings?: Record<string, string>;
  readonly log?: (line: string) => void;
}

interface Server {
  readonly pid: number;
  readonly port: number;
  readonly reused: boolean;
}

/** Runs PostgreSQL on the folder `postgres` inside dataDir: makes it where there is none, takes over one left running. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, settings = {}, log = () => {} } = options;
  const place = choosePlace(dataDir, log);
  const copyRoot = place.account ? path.join(SHARED_ROOT, 'programs') : path.resolve(dataDir);
  const binaries = await findBinaries({ account: place.account, copyRoot, log });
  await ensureCluster(place, binaries, settings.fsync !== 'off');
  const { server, owner } = await obtain(place, binaries, settings, log);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    owner.retire();
    stopping ??= stopServer(server.pid, place, binaries);
    return stopping;
  };
  return { url: urlOf(place, server.port, DATABASE), reused: server.reused, stop };
}

async function obtain(
  place: Place,
  binaries: Binaries,
  settings: Record<string, string>,
  log: (line: string) => void,
): Promise<{ server: Server; owner: Owner }> {
  let reason: unknown = 'processes of an earlier one do not end';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const running = await findRunning(place);
    const found = running ?? (await launch(place, binaries, settings));
    try {
      if (found) {
        const owner = await own(found.port, place, log);
        return { server: { ...found, reused: running !== undefined }, owner };
      }
    } catch (error) {
      // The server was just being stopped by its owner: once it is gone, this start makes its own.
      if (error instanceof EmbeddedPostgresError) throw error;
      reason = error;
    }
    await pause(BETWEEN_ATTEMPTS_MS);
  }
  const message = `PostgreSQL could not start in ${place.folder}: ${reason}. See ${place.logFile}.`;
  throw new EmbeddedPostgresError('not_started', message, { cause: reason });
}

async function own(port: number, place: Place, log: (line: string) => void): Promise<Owner> {
  const owner = await Owner.claim(urlOf(place, port, 'postgres'), place.folder, log);
  try {
    const known = await owner.query('select from pg_database where datname = $1', [DATABASE]);
    if (known.rowCount === 0) await owner.query(`create database ${DATABASE} owner ${ROLE}`);
    return owner;
  } catch (error) {
    await owner.close();
    throw error;
  }
}
