import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Catalogue, Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { createOrganization, generateKey, issueKey } from '../../packages/server/src/organizations/api-keys.ts';
import * as store from '../../packages/server/src/organizations/organization-store.ts';
import { serverDatabase } from '../../packages/server/testing/database.ts';
import { send } from './client.ts';
import { type RunningServer, startServer } from './server.ts';

export interface TestService {
  readonly database: TestDatabase;
  readonly server: RunningServer;
  /** Starts one more process on the same database. */
  another(env?: Record<string, string>): Promise<RunningServer>;
  /** Ends every process and drops the database. */
  stop(): Promise<void>;
}

/** The real service on a database of its own, with development keys of its own and, unless told otherwise, no limit in sight. */
export async function startService(env: Record<string, string> = {}): Promise<TestService> {
  const database = await serverDatabase();
  const running: RunningServer[] = [];
  const common = {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '5',
    RATE_LIMIT_PER_MINUTE: '1000000',
    CLAIM_LIMIT_PER_MINUTE: '1000000',
    UNKNOWN_CODES_PER_MINUTE: '1000000',
    SVC_DEV_PUBLIC_KEY: generateKey('public', 'development'),
    SVC_DEV_SECRET_KEY: generateKey('secret', 'development'),
    ...env,
  };
  const another = async (more: Record<string, string> = {}) => {
    const server = await startServer({ env: { ...common, ...more } });
    running.push(server);
    return server;
  };
  const stop = async () => {
    await Promise.all(running.map((server) => server.stop()));
    await database.drop();
  };
  try {
    return { database, server: await another(), another, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export interface Keys {
  readonly publicKey: string;
  readonly secretKey: string;
  /** What `revoke` wants. */
  readonly publicKeyId: string;
  readonly secretKeyId: string;
  /** Both headers. */
  readonly headers: { readonly 'x-api-key': string; readonly authorization: string };
}

export const newOrganization = (db: Db, name: string): Promise<string> => createOrganization(db, name);

export async function newKeys(db: Db, organizationId: string, environment: Environment): Promise<Keys> {
  const publicKey = await issueKey(db, { organizationId, environment, kind: 'public' });
  const secretKey = await issueKey(db, { organizationId, environment, kind: 'secret' });
  return {
    publicKey: publicKey.value,
    secretKey: secretKey.value,
    publicKeyId: publicKey.id,
    secretKeyId: secretKey.id,
    headers: { 'x-api-key': publicKey.value, authorization: `Bearer ${secretKey.value}` },
  };
}

export async function revoke(db: Db, keyId: string): Promise<void> {
  if (!(await store.revokeKey(db, keyId))) throw new Error('There is no such key to revoke.');
}

export async function changeSettings(
  db: Db,
  organizationId: string,
  environment: Environment,
  changes: Partial<store.EnvironmentRow>,
): Promise<void> {
  const settings = await store.findEnvironment(db, organizationId, environment);
  if (!settings) throw new Error('There is no such environment.');
  await store.updateEnvironment(db, { ...settings, ...changes });
}

/** Whether a running server lets these headers in. */
export async function isAdmitted(baseUrl: string, headers: Record<string, string>): Promise<boolean> {
  return (await send(`${baseUrl}/skus?limit=1`, { headers })).status === 200;
}

const file = path.resolve(import.meta.dirname, '../../packages/server/catalogue/mexico.json');

/** The services of the shipped catalogue, in its order. */
export const shippedSkus = (JSON.parse(readFileSync(file, 'utf8')) as Catalogue).skus;
