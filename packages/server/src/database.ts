import path from 'node:path';
import {
  connect,
  type Database,
  type EmbeddedOptions,
  embeddedFolder,
  findEmbedded,
  grantOwnService,
  grantService,
  hostUrls,
  isOwner,
  type MigrationSet,
  migrate,
  type ProtectedTables,
  startEmbedded,
} from '@svc/store';
import type { Logger } from 'pino';
import type { Config } from './config.ts';

export interface OpenStore {
  readonly url: string;
  /** For the terminal; without the password. */
  readonly description: string;
  close(): Promise<void>;
}

export interface OpenDatabase {
  readonly db: Database;
  readonly description: string;
  close(): Promise<void>;
}

export async function openDatabase(
  config: Config,
  sandbox: MigrationSet | undefined,
  log: Logger,
): Promise<OpenDatabase> {
  const store = await openStore(config, { log: (line) => log.info(line), report: (line) => log.error(line) });
  let url: string;
  try {
    url = await prepare(config, store, [serverMigrations, ...(sandbox ? [sandbox] : [])]);
    if (await isOwner(url))
      log.warn('database role owns the tables: set DATABASE_OWNER_URL and give DATABASE_URL fewer rights');
  } catch (error) {
    await store.close();
    throw error;
  }
  const db = connect(url, { max: config.databasePoolSize });
  const close = async () => {
    await db.close();
    await store.close();
  };
  return { db, description: store.description, close };
}

/** The ledger and the audit log are history: the database refuses to rewrite them, in triggers and by the role's rights. */
export const protectedTables: ProtectedTables = {
  appendOnly: ['ledger_entries', 'audit_log', 'treasury_signatures'],
  permanent: ['ledger_balances', 'ledger_holds', 'treasuries', 'treasury_proposals', 'solana_transfers'],
};

/** Migrates as the owner. Answers the URL of the role that the service works as, which cannot change the schema. */
export async function prepare(config: Config, store: OpenStore, sets: readonly MigrationSet[]): Promise<string> {
  const { databaseUrl, databaseOwnerUrl } = config;
  await migrate(databaseOwnerUrl ?? store.url, sets);
  if (databaseUrl === undefined) return grantOwnService(store.url, protectedTables);
  if (databaseOwnerUrl !== undefined) await grantService(databaseOwnerUrl, databaseUrl, protectedTables);
  return databaseUrl;
}

export async function openStore(
  config: Config,
  lines: Pick<EmbeddedOptions, 'log' | 'report'> = {},
): Promise<OpenStore> {
  if (config.databaseUrl !== undefined) {
    const hosts = (hostUrls(config.databaseUrl) ?? []).filter((url) => URL.canParse(url));
    const known = hosts.length > 0 ? ` at ${hosts.map((url) => shown(new URL(url))).join(', ')}` : '';
    const description = `PostgreSQL${known}`;
    return { url: config.databaseUrl, description, close: async () => {} };
  }
  const embedded = await startEmbedded({ dataDir: config.dataDir, ...lines });
  return { url: embedded.url, description: 'embedded PostgreSQL in the data folder', close: embedded.stop };
}

/** Where this process writes, the embedded database included. */
export function foldersOf({ dataDir, databaseUrl }: Config): readonly string[] {
  return databaseUrl === undefined ? [dataDir, embeddedFolder(dataDir)] : [dataDir];
}

const shown = ({ host, pathname }: URL) => `${host}${pathname}`;

/** For a command that runs beside the service: uses the embedded database where it runs already. */
export async function openStoreBesideService(config: Config): Promise<OpenStore> {
  const running = config.databaseUrl === undefined ? await findEmbedded(config.dataDir) : undefined;
  if (running === undefined) return openStore(config);
  return { url: running, description: 'embedded PostgreSQL in the data folder', close: async () => {} };
}

export const serverMigrations: MigrationSet = {
  name: 'svc',
  folder: path.resolve(import.meta.dirname, '../migrations'),
};
