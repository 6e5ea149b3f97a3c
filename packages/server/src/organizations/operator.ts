import { environments, parseUsd, type Settings } from '@svc/protocol';
import type { Db } from '@svc/store';
import { type OperatorName, operatorOf, recordChange } from '../audit-log.ts';
import type { TenantUrlOptions } from '../outbound/address-guard.ts';
import { createOrganization, issueKey, toApiKey } from './api-keys.ts';
import * as store from './organization-store.ts';
import { changeSettings, faultOfSettings, readSettings, type SettingName, settingNames } from './settings.ts';

const NO_ORGANIZATION = 'No organisation has this id.';

/** Written down in both environments: each has a log of its own. */
export async function addOrganization(tx: Db, name: string, operator?: OperatorName): Promise<string> {
  const id = await createOrganization(tx, name);
  for (const environment of environments) {
    const change = { action: 'organization.created', target: id, changes: { name } };
    await recordChange(tx, operatorOf(id, environment, operator), change);
  }
  return id;
}

export async function showSettings(db: Db, owner: store.Owner): Promise<Settings> {
  const settings = await readSettings(db, owner);
  if (!settings) throw new Error(NO_ORGANIZATION);
  return settings;
}

/** Such as `jwksUrl=https://id.example/jwks.json`; all or none. */
export async function setSettings(
  db: Db,
  { organizationId, environment }: store.Owner,
  texts: readonly string[],
  options: TenantUrlOptions,
): Promise<Settings> {
  const changes = Object.fromEntries(texts.map(readChange));
  const fault = faultOfSettings(changes, environment, options);
  if (fault) throw new Error(`${fault}.`);
  const settings = await db.tx((tx) => changeSettings(tx, operatorOf(organizationId, environment), changes));
  if (!settings) throw new Error(NO_ORGANIZATION);
  return settings;
}

/** An empty value restores the default. */
function readChange(text: string): [SettingName, string | boolean | number | null] {
  const [, word, value = ''] = /^([^=]*)=([\s\S]*)$/.exec(text) ?? [];
  const name = settingNames.find((known) => known === word);
  if (!name) throw new Error(`"${text}" is not a setting and its value.`);
  if (name === 'giftsNeedSecretKey') {
    if (value !== 'true' && value !== 'false') throw new Error('giftsNeedSecretKey must be true or false.');
    return [name, value === 'true'];
  }
  if (name === 'publicKeyGiftsDailyUsd') {
    if (value !== '' && !parseUsd(value).ok) throw new Error('publicKeyGiftsDailyUsd must be dollars, such as 100.');
    return [name, value === '' ? null : Number(value)];
  }
  if (name === 'jwtUserClaim') return [name, value || 'sub'];
  return [name, value || null];
}

export async function createKeys(
  tx: Db,
  { organizationId, environment }: store.Owner,
  operator?: OperatorName,
): Promise<{ publicKey: string; secretKey: string }> {
  if (!(await store.lockEnvironment(tx, { organizationId, environment }))) throw new Error(NO_ORGANIZATION);
  const values: string[] = [];
  for (const kind of ['public', 'secret'] as const) {
    const { row, value } = await issueKey(tx, { organizationId, environment, kind });
    await recordKey(tx, 'key.created', row, operator);
    values.push(value);
  }
  const [publicKey = '', secretKey = ''] = values;
  return { publicKey, secretKey };
}

export async function revokeKey(tx: Db, id: string, operator?: OperatorName): Promise<boolean> {
  const row = await store.findKey(tx, id);
  if (!row) return false;
  // So that the key makes no other one meanwhile.
  await store.lockEnvironment(tx, { organizationId: row.organization_id, environment: row.environment });
  if (!(await store.revokeKey(tx, id))) return false;
  await recordKey(tx, 'key.revoked', row, operator);
  return true;
}

async function recordKey(tx: Db, action: string, row: store.KeyRow, operator?: OperatorName): Promise<void> {
  const { kind, key } = toApiKey(row);
  await recordChange(tx, operatorOf(row.organization_id, row.environment, operator), {
    action,
    target: row.id,
    changes: { kind, key },
  });
}
