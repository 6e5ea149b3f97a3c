import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { credit } from '../ledger/ledger.ts';
import { createOrganization, generateKey, hashSecret, issueKey, keyPrefix, looksLikeKey } from './api-keys.ts';
import type { KeyKind } from './organization-store.ts';
import * as store from './organization-store.ts';

/** 10,000 USD. */
const STARTING_CREDITS = 10_000_000_000n;
const environment: Environment = 'development';

interface KnownKeys {
  readonly publicKey?: string | undefined;
  readonly secretKey?: string | undefined;
}

export interface Development {
  readonly organizationId: string;
  readonly publicKey: string;
  /** undefined: shown earlier and not saved here. */
  readonly secretKey: string | undefined;
}

export interface DevelopmentOptions {
  readonly configured: KnownKeys;
  /** From the credentials file. Used while valid; where a key has to be made, it takes the written value, so that no key exists that was never shown. */
  readonly saved: KnownKeys;
  /** True on a laptop, false on a shared database. */
  readonly replaceLostSecret: boolean;
}

export function draftKeys(): { publicKey: string; secretKey: string } {
  return { publicKey: generateKey('public', environment), secretKey: generateKey('secret', environment) };
}

/** Safe when several replicas start at once. */
export function ensureDevelopment(db: Db, options: DevelopmentOptions): Promise<Development> {
  return db.tx(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('svc development organization', 0))`);
    const existing = await store.findDevelopmentOrganization(tx);
    const organizationId = existing?.id ?? (await create(tx));
    const mayIssue = existing === undefined || options.replaceLostSecret;
    const publicKey = await ensurePublicKey(tx, organizationId, options);
    const secretKey = await ensureSecretKey(tx, organizationId, options, mayIssue);
    return { organizationId, publicKey, secretKey };
  });
}

async function create(tx: Db): Promise<string> {
  const organizationId = await createOrganization(tx, 'Development');
  await store.claimDevelopment(tx, organizationId);
  const settings = await store.findEnvironment(tx, organizationId, environment);
  if (!settings) throw new Error('The development organisation has no development environment.');
  await store.updateEnvironment(tx, { ...settings, jwks_url: 'sandbox' });
  await credit(tx, {
    organizationId,
    environment,
    type: 'GRANT',
    amount: STARTING_CREDITS,
    reference: 'sandbox credits',
  });
  return organizationId;
}

async function ensurePublicKey(
  tx: Db,
  organizationId: string,
  { configured, saved }: DevelopmentOptions,
): Promise<string> {
  if (configured.publicKey !== undefined) return ensureKey(tx, organizationId, 'public', configured.publicKey);
  if (saved.publicKey !== undefined && (await isUsable(tx, organizationId, 'public', saved.publicKey))) {
    return saved.publicKey;
  }
  const keys = await store.listKeys(tx, organizationId, 1_000);
  const usable = keys.find((key) => key.kind === 'public' && key.environment === environment && !key.revoked_at);
  return usable?.public_key ?? issue(tx, organizationId, 'public', saved.publicKey);
}

async function ensureSecretKey(
  tx: Db,
  organizationId: string,
  { configured, saved }: DevelopmentOptions,
  mayIssue: boolean,
): Promise<string | undefined> {
  if (configured.secretKey !== undefined) return ensureKey(tx, organizationId, 'secret', configured.secretKey);
  if (saved.secretKey !== undefined && (await isUsable(tx, organizationId, 'secret', saved.secretKey))) {
    return saved.secretKey;
  }
  if (!mayIssue) return undefined;
  return issue(tx, organizationId, 'secret', saved.secretKey);
}

async function issue(tx: Db, organizationId: string, kind: KeyKind, written: string | undefined): Promise<string> {
  const free = written !== undefined && isDevelopmentKey(written, kind) && !(await find(tx, kind, written));
  return (await issueKey(tx, { organizationId, environment, kind }, free ? written : undefined)).value;
}

function isDevelopmentKey(value: string, kind: KeyKind): boolean {
  return looksLikeKey(value, kind) && value.startsWith(keyPrefix(kind, environment));
}

async function ensureKey(tx: Db, organizationId: string, kind: KeyKind, value: string): Promise<string> {
  const row = await find(tx, kind, value);
  if (!row) return (await issueKey(tx, { organizationId, environment, kind }, value)).value;
  if (await isUsable(tx, organizationId, kind, value)) return value;
  const name = kind === 'public' ? 'SVC_DEV_PUBLIC_KEY' : 'SVC_DEV_SECRET_KEY';
  throw new Error(`${name} is a key that was revoked or belongs to another organisation. Choose another value.`);
}

async function isUsable(tx: Db, organizationId: string, kind: KeyKind, value: string): Promise<boolean> {
  const row = await find(tx, kind, value);
  return row?.organization_id === organizationId && row.environment === environment && row.revoked_at === null;
}

function find(tx: Db, kind: KeyKind, value: string): Promise<store.KeyRow | undefined> {
  return kind === 'public' ? store.findPublicKey(tx, value) : store.findSecretKey(tx, hashSecret(value));
}

interface Credentials {
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

interface DevelopmentConfig {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly developmentPublicKey: string | undefined;
  readonly developmentSecretKey: string | undefined;
}

export const credentialsFileOf = ({ dataDir }: Pick<DevelopmentConfig, 'dataDir'>): string =>
  path.join(dataDir, 'credentials.json');

/** Keys are written to the file before the database has them: a start that fails in between loses none. */
export async function prepareDevelopment(config: DevelopmentConfig, db: Db): Promise<Development> {
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
