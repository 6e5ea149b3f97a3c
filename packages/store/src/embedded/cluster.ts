import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Binaries } from './binaries.ts';
import { run } from './command.ts';
import { EmbeddedPostgresError } from './error.ts';
import { isAlive } from './pid-file.ts';
import type { Place } from './place.ts';

const INITDB_TIMEOUT_MS = 120_000;
const PASSWORD_BYTES = 32;
const ABANDONED_AFTER_MS = 2 * INITDB_TIMEOUT_MS;
export const ROLE = 'svc';

const HOST_RULES = 'host all all 127.0.0.1/32 scram-sha-256\n';

/** Of two simultaneous starts, the first to finish creates the cluster. */
export async function ensureCluster(place: Place, binaries: Binaries, durable: boolean): Promise<void> {
  removeAbandoned(place);
  if (!existsSync(place.data)) await createCluster(place, binaries, durable);
  const major = Number.parseInt(readFileSync(path.join(place.data, 'PG_VERSION'), 'utf8'), 10);
  if (major === binaries.major) return;
  throw new EmbeddedPostgresError(
    'other_version',
    `The database in ${place.folder} was made by PostgreSQL ${major}, and ${binaries.postgres} is version ` +
      `${binaries.major}. Set SVC_POSTGRES_BIN to the programs of PostgreSQL ${major}, or SVC_DATA_DIR to another folder.`,
  );
}

export function readPassword(place: Place): string {
  return readFileSync(place.passwordFile, 'utf8').trim();
}

async function createCluster(place: Place, binaries: Binaries, durable: boolean): Promise<void> {
  const making = mkdtempSync(`${place.folder}.new-${process.pid}-`);
  try {
    const data = path.join(making, 'data');
    const passwordFile = path.join(making, 'password');
    mkdirSync(data, { mode: 0o700 });
    // Flushed: without its password a cluster is lost after a power cut.
    writeFileSync(passwordFile, randomBytes(PASSWORD_BYTES).toString('hex'), { mode: 0o600, flush: true });
    handOver(place, making, data, passwordFile);
    const settings = ['--username', ROLE, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--data-checksums'];
    await run(
      binaries.initdb,
      ['-D', data, `--pwfile=${passwordFile}`, ...settings, ...(durable ? [] : ['--no-sync'])],
      {
        account: place.account,
        cwd: making,
        timeoutMs: INITDB_TIMEOUT_MS,
      },
    );
    writeFileSync(path.join(data, 'pg_hba.conf'), HOST_RULES, { flush: durable });
    if (place.account) chownSync(passwordFile, 0, 0);
    renameSync(making, place.folder);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (existsSync(place.data)) return;
    throw error;
  }
}

function handOver(place: Place, making: string, data: string, passwordFile: string): void {
  if (!place.account) return;
  const { uid, gid } = place.account;
  chmodSync(making, 0o755);
  for (const target of [data, passwordFile]) chownSync(target, uid, gid);
}

function removeAbandoned(place: Place): void {
  const parent = path.dirname(place.folder);
  const prefix = `${path.basename(place.folder)}.new-`;
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    const folder = path.join(parent, name);
    const maker = Number.parseInt(name.slice(prefix.length), 10);
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (!stat || (isAlive(maker) && Date.now() - stat.mtimeMs < ABANDONED_AFTER_MS)) continue;
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // initdb is still writing there; the next start removes it.
    }
  }
}
