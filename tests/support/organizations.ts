import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import { createOrganization, issueKey } from '../../packages/server/src/organizations/api-keys.ts';
import * as store from '../../packages/server/src/organizations/organization-store.ts';
import { send } from './client.ts';

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
