import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import * as store from './store.ts';

/** The settings of an environment, under the names that people use for them. */
const columns = {
  jwksUrl: 'jwks_url',
  jwtIssuer: 'jwt_issuer',
  jwtAudience: 'jwt_audience',
  jwtUserClaim: 'jwt_user_claim',
  giftsNeedSecretKey: 'gifts_need_secret_key',
  notificationEmail: 'notification_email',
} as const satisfies Record<string, keyof store.EnvironmentRow>;
type SettingName = keyof typeof columns;

export type Settings = Record<SettingName, string | boolean | null>;

export async function showSettings(db: Db, organizationId: string, environment: Environment): Promise<Settings> {
  const row = await store.findEnvironment(db, organizationId, environment);
  if (!row) throw new Error('No organisation has this id.');
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, row[column]])) as Settings;
}

/** Applies changes such as `jwksUrl=https://id.example/jwks.json`, all or none, and answers what then holds. */
export async function changeSettings(
  db: Db,
  organizationId: string,
  environment: Environment,
  changes: readonly string[],
): Promise<Settings> {
  const row = await store.findEnvironment(db, organizationId, environment);
  if (!row) throw new Error('No organisation has this id.');
  const changed: Record<string, unknown> = { ...row };
  for (const change of changes) {
    const [name = '', ...rest] = change.split('=');
    if (!Object.hasOwn(columns, name) || rest.length === 0)
      throw new Error(`"${change}" is not a setting and its value.`);
    changed[columns[name as SettingName]] = readSetting(name as SettingName, rest.join('='), environment);
  }
  await store.updateEnvironment(db, changed as unknown as store.EnvironmentRow);
  return showSettings(db, organizationId, environment);
}

function readSetting(name: SettingName, text: string, environment: Environment): string | boolean | null {
  if (name === 'giftsNeedSecretKey') {
    if (text !== 'true' && text !== 'false') throw new Error('giftsNeedSecretKey must be true or false.');
    return text === 'true';
  }
  if (name === 'jwtUserClaim') return text || 'sub';
  if (name === 'jwksUrl' && text === 'sandbox' && environment !== 'development') {
    throw new Error('The identity provider of the sandbox gives a token to whoever asks: it is for development only.');
  }
  if (name === 'jwksUrl' && text && text !== 'sandbox' && !isWebAddress(text)) {
    throw new Error('jwksUrl must be an address that starts with https:// (or http://), or the word sandbox.');
  }
  return text || null;
}

const isWebAddress = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
