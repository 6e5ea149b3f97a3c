import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { withClient } from '../client.ts';
import { startEmbedded } from '../embedded/start.ts';
import { CLUSTER_VARIABLE } from './test-database.ts';

const PREFIX = 'svc-test-cluster-';
// The owner's lock protects the folder of a longer run.
const ABANDONED_AFTER_MS = 3_600_000;
const MAX_SWEPT = 10;

const SETTINGS = {
  ...{ fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '300' },
  // A run opens thousands of connections, and each would stretch its password 4,096 times.
  scram_iterations: '1',
};

export default async function setup(): Promise<() => Promise<void>> {
  if (process.env[CLUSTER_VARIABLE]) return async () => {};
  await sweep();
  const dataDir = mkdtempSync(path.join(tmpdir(), PREFIX));
  // As root, PostgreSQL runs as another user.
  chmodSync(dataDir, 0o755);
  const server = await startEmbedded({ dataDir, settings: SETTINGS });
  // Stored again, for a password keeps the iterations that it was stored with.
  const { username, password } = new URL(server.url);
  await withClient(server.url, {}, (client) => client.query(`alter role ${username} password '${password}'`));
  process.env[CLUSTER_VARIABLE] = server.url;
  return async () => {
    delete process.env[CLUSTER_VARIABLE];
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

async function sweep(): Promise<void> {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX));
  for (const name of folders.slice(0, MAX_SWEPT)) {
    const dataDir = path.join(tmpdir(), name);
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
