import { parseUsd, type Settings } from '@svc/protocol';
import type { Db } from '@svc/store';
import { operatorOf, recordChange } from '../audit-log.ts';
import type { TenantUrlOptions } from '../outbound/address-guard.ts';
import { issueKey, toApiKey } from './api-keys.ts';
import * as store from './organization-store.ts';
import { changeSettings, faultOfSettings, readSettings, type SettingName, settingNames } from './settings.ts';

const NO_ORGANIZATION = 'No organisation has this id.';

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

export function createKeys(
  db: Db,
  { organizationId, environment }: store.Owner,
): Promise<{ publicKey: string; secretKey: string }> {
  return db.tx(async (tx) => {
    if (!(await store.lockEnvironment(tx, { organizationId, environment }))) throw new Error(NO_ORGANIZATION);
    const values: string[] = [];
    for (const kind of ['public', 'secret'] as const) {
      const { row, value } = await issueKey(tx, { organizationId, environment, kind });
      await recordKey(tx, 'key.created', row);
      values.push(value);
    }
    const [publicKey = '', secretKey = ''] = values;
    return { publicKey, secretKey };
  });
}

export function revokeKey(db: Db, id: string): Promise<boolean> {
  return db.tx(async (tx) => {
    const row = await store.findKey(tx, id);
    if (!row) return false;
    // So that the key makes no other one meanwhile.
    await store.lockEnvironment(tx, { organizationId: row.organization_id, environment: row.environment });
    if (!(await store.revokeKey(tx, id))) return false;
    await recordKey(tx, 'key.revoked', row);
    return true;
  });
}

async function recordKey(tx: Db, action: string, row: store.KeyRow): Promise<void> {
  const { kind, key } = toApiKey(row);
  await recordChange(tx, operatorOf(row.organization_id, row.environment), {
    action,
    target: row.id,
    changes: { kind, key },
  });
}
