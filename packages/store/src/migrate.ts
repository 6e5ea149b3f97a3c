import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { lock, withClient } from './client.ts';

// Replicas that start together wait for the first.
const LOCK_TIMEOUT_MS = 300_000;
const MIGRATION_TIMEOUT_MS = 1_800_000;

/** A folder of files NNNN_name.sql, numbered from 0001 without gaps. */
export interface MigrationSet {
  readonly name: string;
  readonly folder: string;
}

export interface Migration {
  readonly number: number;
  readonly name: string; // without .sql
  readonly text: string;
  readonly checksum: string;
}

interface Applied {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

interface Plan {
  readonly set: string;
  readonly pending: readonly Migration[];
}

/** Applies every file in one transaction with its record; nothing, unless every set fits the records of the database. */
export async function migrate(
  url: string,
  sets: readonly MigrationSet[],
  options: { upTo?: Record<string, number> } = {},
): Promise<{ applied: string[] }> {
  const files = new Map(sets.map((set) => [set.name, readMigrations(set)]));
  if (files.size !== sets.length) throw new Error('Two sets of migrations have the same name.');
  const timeouts = { lock_timeout: LOCK_TIMEOUT_MS, statement_timeout: MIGRATION_TIMEOUT_MS };
  return withClient(url, { application_name: 'svc migrate', ...timeouts }, async (client) => {
    await lock(client, 'svc:migrate');
    await createRecords(client);
    const plans: Plan[] = [];
    for (const [set, known] of files) {
      const pending = pendingOf(set, known, await readApplied(client, set));
      const last = options.upTo?.[set] ?? known.length;
      plans.push({ set, pending: pending.filter((migration) => migration.number <= last) });
    }
    const applied: string[] = [];
    for (const { set, pending } of plans) {
      for (const migration of pending) {
        await apply(client, set, migration);
        applied.push(`${set}/${migration.name}`);
      }
    }
    return { applied };
  });
}

/** Looks first: a role that may not create tables can still see that nothing is pending. */
async function createRecords(client: pg.Client): Promise<void> {
  const known = await client.query(`select to_regclass('schema_migrations') is not null as exists`);
  if (known.rows[0]?.exists === true) return;
  await client.query(`
    create table if not exists schema_migrations (
      set_name text not null,
      number integer not null,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now(),
      primary key (set_name, number)
    )`);
}

async function readApplied(client: pg.Client, set: string): Promise<Applied[]> {
  const query = 'select number, name, checksum from schema_migrations where set_name = $1 order by number';
  return (await client.query<Applied>(query, [set])).rows;
}

function pendingOf(set: string, known: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  for (const [index, record] of applied.entries()) {
    const file = known[index];
    if (record.number > known.length) {
      throw new Error(
        `This database was made by a newer svc: it has migration ${set}/${record.name}, ` +
          `and this version knows ${known.length} of that set. Start the newer version.`,
      );
    }
    if (file?.number !== record.number) {
      throw new Error(`The record of migrations has a gap before ${set}/${record.name}; restore it from a backup.`);
    }
    if (file.checksum !== record.checksum || file.name !== record.name) {
      throw new Error(
        `Migration ${set}/${record.name} has changed since it was applied to this database. ` +
          'Restore the file and put the change into a new migration.',
      );
    }
  }
  return known.slice(applied.length);
}

// Below PostgreSQL's own detection of deadlocks (1 s): the migration gives way before a request of a running process is cancelled,
// and requests do not wait behind it for longer.
const TABLE_LOCK_MS = 500;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;
const GAVE_WAY: ReadonlySet<unknown> = new Set(['55P03', '40P01']);

/** Tables in use may be locked in another order than here. Then it is undone and repeated: running processes go on meanwhile. */
async function apply(client: pg.Client, set: string, migration: Migration): Promise<void> {
  const until = performance.now() + LOCK_TIMEOUT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await applyOnce(client, set, migration);
    } catch (error) {
      await client.query('rollback').catch(() => {});
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (GAVE_WAY.has(code) && performance.now() < until) {
        await pause(pauseMs * (0.5 + Math.random()));
        continue;
      }
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`Migration ${set}/${migration.name} failed and was undone: ${reason}`, { cause: error });
    }
  }
}

async function applyOnce(client: pg.Client, set: string, migration: Migration): Promise<void> {
  await client.query('begin');
  await client.query(`set local lock_timeout = ${TABLE_LOCK_MS}`);
  await client.query(migration.text);
  if (client.getTransactionStatus() !== 'T') throw new Error('A migration must not end its own transaction.');
  await client.query('insert into schema_migrations (set_name, number, name, checksum) values ($1, $2, $3, $4)', [
    set,
    migration.number,
    migration.name,
    migration.checksum,
  ]);
  await client.query('commit');
}

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

export function readMigrations(set: MigrationSet): readonly Migration[] {
  const files = readdirSync(set.folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return files.map((file, index) => {
    const number = Number(FILE_NAME.exec(file)?.[1]);
    const where = `${path.join(set.folder, file)}:`;
    if (Number.isNaN(number)) throw new Error(`${where} a migration is named NNNN_what_it_does.sql.`);
    if (number <= index) throw new Error(`${where} two migrations have the number ${number}, or it is 0000.`);
    if (number !== index + 1) throw new Error(`${where} migration ${index + 1} is missing before it.`);
    return { number, name: file.slice(0, -'.sql'.length), ...readText(path.join(set.folder, file)) };
  });
}

function readText(file: string): { text: string; checksum: string } {
  const text = readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  return { text, checksum: createHash('sha256').update(text).digest('hex') };
}
