import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { withClient } from '../client.ts';
import { startEmbedded } from '../embedded/start.ts';
import { temporaryFolder, temporaryRoots } from './folder.ts';
import { CLUSTER_VARIABLE } from './test-database.ts';

const PREFIX = 'svc-test-cluster-';
// The owner's lock protects the folder of a longer run.
const ABANDONED_AFTER_MS = 3_600_000;
const MAX_SWEPT = 10;

const SETTINGS = {
  ...{ fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' },
  // Hundreds of databases would each be visited as often.
  ...{ max_connections: '300', max_wal_size: '256MB', autovacuum_naptime: '1min' },
};

export default async function setup(): Promise<() => Promise<void>> {
  if (process.env[CLUSTER_VARIABLE]) return async () => {};
  await sweep();
  const dataDir = temporaryFolder(PREFIX);
  const server = await startEmbedded({ dataDir, settings: SETTINGS });
  await stretchOnce(server.url);
  process.env[CLUSTER_VARIABLE] = server.url;
  return async () => {
    delete process.env[CLUSTER_VARIABLE];
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/** A run opens thousands of connections, and each would stretch its password 4,096 times. */
async function stretchOnce(url: string): Promise<void> {
  const { username, password } = new URL(url);
  // Stored again, for a password keeps the iterations that it was stored with.
  const statements = [
    `alter role ${username} set scram_iterations = 1`,
    'set scram_iterations = 1',
    `alter role ${username} password '${password}'`,
  ];
  // PostgreSQL 15 does not know the setting.
  await withClient(url, {}, (client) => client.query(statements.join(';')).catch(() => undefined));
}

async function sweep(): Promise<void> {
  const folders = temporaryRoots().flatMap((root) => readdirSync(root).map((name) => path.join(root, name)));
  for (const dataDir of folders.filter((folder) => path.basename(folder).startsWith(PREFIX)).slice(0, MAX_SWEPT)) {
    const stat = statSync(dataDir, { throwIfNoEntry: false });
    if (!stat || Date.now() - stat.mtimeMs < ABANDONED_AFTER_MS) continue;
    try {
      await (await startEmbedded({ dataDir, settings: SETTINGS })).stop();
      rmSync(dataDir, { recursive: true, force: true });
    } catch {
      // In use by another run, or owned by another user.
    }
  }
}
