import { realpathSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { withClient } from '../client.ts';
import { ROLE, readPassword } from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import { POLL_MS, START_TIMEOUT_MS } from './launch.ts';
import { readPidFile, removePidFile, serves } from './pid-file.ts';
import type { Place } from './place.ts';

const REFUSING_MS = 5_000;
const ANSWER_TIMEOUT_MS = 5_000;
const WRONG_PASSWORD = '28P01';
const NOT_NOW = '57P0'; // starting, stopping or recovering

type Answer = 'ours' | 'other' | 'later' | 'refused';

export async function findRunning(place: Place): Promise<{ pid: number; port: number } | undefined> {
  const begun = Date.now();
  while (Date.now() - begun < START_TIMEOUT_MS) {
    const file = readPidFile(place.data);
    const served = file ? serves(file.pid, place.data) : 'gone';
    if (!file || served === 'gone') return undefined;
    const answer = served === 'no' ? 'other' : await probe(place, file.port);
    if (answer === 'ours') return file;
    const absent = answer === 'refused' && served === 'perhaps' && Date.now() - begun > REFUSING_MS;
    if (answer === 'other' || absent) {
      removePidFile(place.data, file.pid);
      return undefined;
    }
    await pause(POLL_MS);
  }
  throw new EmbeddedPostgresError(
    'not_started',
    `A PostgreSQL runs on ${place.folder} but does not answer; see ${place.logFile}.`,
  );
}

export function urlOf(place: Place, port: number, database: string): string {
  return `postgres://${ROLE}:${readPassword(place)}@127.0.0.1:${port}/${database}`;
}

// A copied data folder names the server of the original.
async function probe(place: Place, port: number): Promise<Answer> {
  if (port === 0) return 'later';
  const timeouts = { connectionTimeoutMillis: ANSWER_TIMEOUT_MS, query_timeout: ANSWER_TIMEOUT_MS };
  try {
    return await withClient(urlOf(place, port, 'postgres'), timeouts, async (client) => {
      const answer = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
      return realpathSync(answer.rows[0]?.folder ?? '') === realpathSync(place.data) ? 'ours' : 'other';
    });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') return 'refused';
    if (!(error instanceof pg.DatabaseError) || error.code?.startsWith(NOT_NOW)) return 'later';
    if (error.code !== WRONG_PASSWORD) throw error;
    const message = `The PostgreSQL of ${place.folder} does not take the password in ${place.passwordFile}.`;
    throw new EmbeddedPostgresError('unreachable', message, { cause: error });
  }
}
