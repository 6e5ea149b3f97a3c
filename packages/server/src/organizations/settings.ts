import {
  ApiError,
  type BodyOf,
  type Environment,
  endpoints,
  parseUsd,
  type Settings,
  usdToNumber,
} from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import { type Actor, recordChange } from '../audit-log.ts';
import { queryGauge } from '../http/module.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import { findFault } from '../http/validation.ts';
import type { JobLog } from '../jobs/job.ts';
import { faultOfTenantUrl, type TenantUrlOptions } from '../outbound/address-guard.ts';
import * as store from './organization-store.ts';

const tokenSettings = ['jwksUrl', 'jwtIssuer', 'jwtAudience'] as const;
/** Settings that are stored as they are. */
const columns = {
  notificationEmail: 'notification_email',
  jwksUrl: 'jwks_url',
  jwtIssuer: 'jwt_issuer',
  jwtAudience: 'jwt_audience',
  jwtUserClaim: 'jwt_user_claim',
  giftsNeedSecretKey: 'gifts_need_secret_key',
  recipientWallets: 'recipient_wallets',
  recipientAppUrl: 'recipient_app_url',
} as const satisfies Record<string, keyof store.EnvironmentRow>;
export type SettingName = keyof typeof columns | 'publicKeyGiftsDailyUsd';
export const settingNames = [...Object.keys(columns), 'publicKeyGiftsDailyUsd'] as SettingName[];

export type SettingChanges = BodyOf<typeof endpoints.updateSettings>;

export async function readSettings(
  db: Db,
  { organizationId, environment }: store.Owner,
): Promise<Settings | undefined> {
  const row = await store.findEnvironment(db, organizationId, environment);
  return row && toSettings(row);
}

export function faultOfSettings(
  changes: SettingChanges,
  environment: Environment,
  options: TenantUrlOptions,
): string | undefined {
  const fault = findFault('body', endpoints.updateSettings.body, changes);
  if (fault) return fault.replace(/^body\.?/, '');
  const { jwksUrl, publicKeyGiftsDailyUsd, recipientAppUrl } = changes;
  if (typeof recipientAppUrl === 'string' && !isPageUrl(recipientAppUrl, options)) {
    return 'recipientAppUrl must be the address of a page, by https';
  }
  if (typeof publicKeyGiftsDailyUsd === 'number' && !parseUsd(publicKeyGiftsDailyUsd).ok) {
    return 'publicKeyGiftsDailyUsd must have at most 6 decimals';
  }
  if (jwksUrl === undefined || jwksUrl === null) return undefined;
  if (jwksUrl === 'sandbox') {
    const why = 'jwksUrl cannot be sandbox: that identity provider gives a token to whoever asks, for development only';
    return environment === 'development' ? undefined : why;
  }
  const urlFault = faultOfTenantUrl(jwksUrl, options);
  return urlFault && `jwksUrl ${urlFault}`;
}

/** Browsers follow it, the service does not. */
function isPageUrl(text: string, { allowLoopback }: TenantUrlOptions): boolean {
  const { protocol, hostname, username, password } = URL.canParse(text) ? new URL(text) : new URL('none:');
  const isLocal = allowLoopback === true && protocol === 'http:' && ['localhost', '127.0.0.1'].includes(hostname);
  return (protocol === 'https:' || isLocal) && username === '' && password === '';
}

/** Answers the settings as they are then. An equal value is no change. */
export async function changeSettings(tx: Db, actor: Actor, changes: SettingChanges): Promise<Settings | undefined> {
  const row = await store.lockEnvironment(tx, actor);
  if (!row) return undefined;
  const before = toSettings(row);
  requireBoundTokens({ ...before, ...changes }, changes);
  const names = settingNames.filter((name) => changes[name] !== undefined && changes[name] !== before[name]);
  if (names.length === 0) return before;
  await store.updateEnvironment(tx, { ...row, ...Object.assign({}, ...names.map((name) => columnOf(name, changes))) });
  await recordChange(tx, actor, {
    action: 'settings.updated',
    changes: Object.fromEntries(names.map((name) => [name, changes[name]])),
  });
  return readSettings(tx, actor);
}

/** Without issuer and audience, a token that the same provider issued for another app would be valid here. */
function requireBoundTokens(settings: Settings, changes: SettingChanges): void {
  if (settings.environment !== 'production' || settings.jwksUrl === null) return;
  if (!tokenSettings.some((name) => changes[name] !== undefined)) return;
  for (const name of ['jwtIssuer', 'jwtAudience'] as const) {
    if (settings[name] === null) throw new ApiError('invalid_request', `body.${name} must be set with jwksUrl.`);
  }
}

const unboundKeySets = sql`
  from environments
 where environment = 'production' and jwks_url is not null and (jwt_issuer is null or jwt_audience is null)`;

/** Set before issuer and audience were required. At most so many lines. */
const MAX_REPORTED = 1_000;

/** Their tokens are refused, or will be from that day on. */
export async function reportUnboundKeySets(reads: Reads, log: Pick<JobLog, 'warn'>, until?: Date): Promise<void> {
  const rows = await reads.rows<{ organizationId: string }>(sql`
    select organization_id as "organizationId" ${unboundKeySets} order by organization_id limit ${MAX_REPORTED}`);
  const refusedFrom = until?.toISOString() ?? 'now';
  for (const row of rows) log.warn({ ...row, refusedFrom }, 'production key set without issuer or audience');
}

export const unboundKeySetGauge = (reads: Reads): GaugeSource =>
  queryGauge(
    reads,
    { name: 'svc_key_sets_unbound', help: 'Key sets of production without issuer or audience', labelNames: [] },
    sql`select count(*)::integer as value ${unboundKeySets}`,
  );

function columnOf(name: SettingName, changes: SettingChanges): Partial<store.EnvironmentRow> {
  if (name !== 'publicKeyGiftsDailyUsd') return { [columns[name]]: changes[name] };
  const usd = parseUsd(changes[name] ?? '');
  return { public_key_gifts_daily_micros: usd.ok ? usd.value : null };
}

function toSettings(row: store.StoredEnvironmentRow): Settings {
  return {
    environment: row.environment,
    notificationEmail: row.notification_email,
    jwksUrl: row.jwks_url,
    jwtIssuer: row.jwt_issuer,
    jwtAudience: row.jwt_audience,
    jwtUserClaim: row.jwt_user_claim,
    giftsNeedSecretKey: row.gifts_need_secret_key,
    publicKeyGiftsDailyUsd:
      row.public_key_gifts_daily_micros === null ? null : usdToNumber(row.public_key_gifts_daily_micros),
    recipientWallets: row.recipient_wallets,
    recipientAppUrl: row.recipient_app_url,
    updatedAt: row.updated_at.toISOString(),
  };
}
