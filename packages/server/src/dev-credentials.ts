import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Db } from '@svc/store';
import type { Config } from './config.ts';
import { type Development, draftKeys, ensureDevelopment } from './organizations/development.ts';

export interface Credentials {
  readonly baseUrl: string;
  readonly publicKey: string;
  readonly secretKey: string;
  readonly organizationId: string;
  readonly rpcUrl: string;
}

/** A missing or damaged file counts as empty. */
export async function readCredentials(file: string): Promise<Partial<Credentials>> {
  try {
    const saved: unknown = JSON.parse(await readFile(file, 'utf8'));
    return saved !== null && typeof saved === 'object' ? saved : {};
  } catch {
    return {};
  }
}

/** Replaces the file atomically; it is readable by its owner only, from the first byte on. */
export async function writeCredentials(file: string, credentials: Partial<Credentials>): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, file);
}

export const credentialsFileOf = ({ dataDir }: Config): string => path.join(dataDir, 'credentials.json');

/** Keys are written to the file before the database has them: a start that fails in between loses none. */
export async function prepareDevelopment(config: Config, db: Db): Promise<Development> {
  const file = credentialsFileOf(config);
  const saved = { ...draftKeys(), ...(await readCredentials(file)) };
  await writeCredentials(file, saved);
  const development = await ensureDevelopment(db, {
    configured: { publicKey: config.developmentPublicKey, secretKey: config.developmentSecretKey },
    saved,
    replaceLostSecret: config.databaseUrl === undefined,
  });
  if (development.secretKey === undefined) await rm(file, { force: true });
  return development;
}
