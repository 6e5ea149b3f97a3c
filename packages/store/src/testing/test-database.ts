import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { connectClient, lock, withClient } from '../client.ts';
import { connect, type Database } from '../database.ts';
import { type MigrationSet, migrate, readMigrations } from '../migrate.ts';
import { isInMemory } from './folder.ts';

/** Names the PostgreSQL of the tests: set by hand for a server of your own, else by the global set-up. */
export const CLUSTER_VARIABLE = 'SVC_TEST_DATABASE_URL';

const TIMEOUT_MS = 60_000;
const ADMIN = { application_name: 'svc tests', lock_timeout: TIMEOUT_MS, statement_timeout: TIMEOUT_MS };

/** A database of its own with migrations applied: a clone of a template that is made once for all tests. */
export class TestDatabase {
  readonly url: string;
  readonly db: Database;

  static async create(sets: readonly MigrationSet[]): Promise<TestDatabase> {
    const name = `svc_test_${randomBytes(8).toString('hex')}`;
    const client = await admin();
    const template = await ensureTemplate(client, sets);
    // Each is half as much work as the other where it is used.
    const strategy = isInMemory() ? 'file_copy' : 'wal_log';
    await client.query(`create database ${name} template ${template} strategy ${strategy}`);
    return new TestDatabase(urlFor(name));
  }

  constructor(url: string) {
    this.url = url;
    this.db = connect(url, { applicationName: 'svc test' });
  }

  async drop(): Promise<void> {
    await this.db.close();
    const name = new URL(this.url).pathname.slice(1);
    await (await admin()).query(`drop database if exists ${name} with (force)`);
  }
}

let kept: Promise<pg.Client> | undefined;

/** One connection for all databases of a worker. */
function admin(): Promise<pg.Client> {
  kept ??= connectClient(clusterUrl(), ADMIN).then((client) => {
    client.once('end', () => {
      kept = undefined;
    });
    // Missing in the driver's types.
    (client as pg.Client & { unref(): void }).unref();
    return client;
  });
  kept.catch(() => {
    kept = undefined;
  });
  return kept;
}

async function ensureTemplate(client: pg.Client, sets: readonly MigrationSet[]): Promise<string> {
  if (sets.length === 0) return 'template0';
  const name = templateName(sets);
  if (!(await exists(client, name))) await withClient(clusterUrl(), ADMIN, (own) => makeTemplate(own, name, sets));
  return name;
}

/** The lock ends with the connection. */
async function makeTemplate(client: pg.Client, name: string, sets: readonly MigrationSet[]): Promise<void> {
  await lock(client, 'svc:test-template');
  if (await exists(client, name)) return;
  // The rename makes a complete template appear.
  const making = `${name}_new`;
  await client.query(`drop database if exists ${making} with (force)`);
  await client.query(`create database ${making} template template0`);
  await migrate(urlFor(making), sets);
  await client.query(`alter database ${making} with allow_connections false`);
  await client.query(`alter database ${making} rename to ${name}`);
}

function templateName(sets: readonly MigrationSet[]): string {
  const digest = createHash('sha256');
  for (const set of sets) {
    for (const { name, checksum } of readMigrations(set)) digest.update(`${set.name}/${name}:${checksum}\n`);
  }
  return `svc_template_${digest.digest('hex').slice(0, 16)}`;
}

async function exists(client: pg.Client, name: string): Promise<boolean> {
  return (await client.query('select from pg_database where datname = $1', [name])).rowCount === 1;
}

function urlFor(database: string): string {
  const url = new URL(clusterUrl());
  url.pathname = `/${database}`;
  return url.href;
}

function clusterUrl(): string {
  const url = process.env[CLUSTER_VARIABLE];
  if (url) return url;
  throw new Error(
    `No PostgreSQL for the tests: set ${CLUSTER_VARIABLE}, or name testing/global-setup.ts in vitest's globalSetup.`,
  );
}
