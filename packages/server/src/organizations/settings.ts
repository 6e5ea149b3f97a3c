import { createHash } from 'node:crypto';
import {
  ApiError,
  type BodyOf,
  type Brand,
  type Branding,
  colorScheme,
  type Environment,
  endpoints,
  MAX_LOGO_BYTES,
  MAX_LOGO_PIXELS,
  parseColor,
  parseUsd,
  type Settings,
  usdToNumber,
} from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { type Actor, recordChange } from '../audit-log.ts';
import type { Answer, Call, Caller } from '../http/call.ts';
import { queryGauge } from '../http/module.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import { findFault } from '../http/validation.ts';
import type { JobLog } from '../jobs/job.ts';
import { faultOfTenantUrl, type TenantUrlOptions } from '../outbound/address-guard.ts';
import { storableText } from '../util/text.ts';
import type { Owner } from './organization-store.ts';
import * as store from './organization-store.ts';

/** What a browser would decode. SVG is not among them: it runs scripts. */
const imageTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
type ImageType = (typeof imageTypes)[number];

interface Image {
  readonly type: ImageType;
  readonly width: number;
  readonly height: number;
}

type Size = Omit<Image, 'type'>;

/** By its first bytes, its header and its end: nothing may follow the image. Undefined for anything else. */
export function readImage(bytes: Buffer): Image | undefined {
  for (const [type, read] of readers) {
    const size = read(bytes);
    if (size && size.width > 0 && size.height > 0) return { type, ...size };
  }
  return undefined;
}

const PNG_START = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const PNG_END = Buffer.from('0000000049454e44ae426082', 'hex');

function readPng(bytes: Buffer): Size | undefined {
  if (bytes.length < 57 || !startsWith(bytes, PNG_START) || !endsWith(bytes, PNG_END)) return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

const JPEG_START = Buffer.from('ffd8ff', 'hex');
const JPEG_END = Buffer.from('ffd9', 'hex');
/** Start-of-frame markers; C4, C8 and CC are others. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function readJpeg(bytes: Buffer): Size | undefined {
  if (!startsWith(bytes, JPEG_START) || !endsWith(bytes, JPEG_END)) return undefined;
  let at = 2;
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrame(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return undefined;
    at += 2 + length;
  }
  return undefined;
}

function readWebp(bytes: Buffer): Size | undefined {
  const text = (from: number, to: number) => bytes.toString('latin1', from, to);
  if (bytes.length < 30 || text(0, 4) !== 'RIFF' || text(8, 12) !== 'WEBP') return undefined;
  if (bytes.readUInt32LE(4) + 8 !== bytes.length) return undefined;
  switch (text(12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

const readers = [
  ['image/png', readPng],
  ['image/jpeg', readJpeg],
  ['image/webp', readWebp],
] as const;

const startsWith = (bytes: Buffer, start: Buffer) => bytes.subarray(0, start.length).equals(start);
const endsWith = (bytes: Buffer, end: Buffer) => bytes.subarray(-end.length).equals(end);

/** Columns of `branding`, also where it is joined and there is no row. */
export interface BrandRow {
  readonly brandName: string | null;
  readonly brandColor: string | null;
  readonly brandLogo: string | null;
}

export const brandColumns: Sql = sql`
  branding.name as "brandName", branding.color as "brandColor",
  branding.organization_id || '/' || branding.logo_hash as "brandLogo"`;

const ofOwner = ({ organizationId, environment }: Owner): Sql =>
  sql`organization_id = ${organizationId} and environment = ${environment}`;

const LOGO_PATH = '/branding';

/** Undefined where nothing is set. */
export function toBrand({ brandName, brandColor, brandLogo }: BrandRow, publicUrl: string): Brand | undefined {
  if (brandName === null && brandColor === null && brandLogo === null) return undefined;
  const none = { color: null, textColor: null, lightAccent: null, darkAccent: null };
  return {
    name: brandName,
    logoUrl: brandLogo === null ? null : `${publicUrl}${LOGO_PATH}/${brandLogo}`,
    ...(brandColor === null ? none : colorScheme(brandColor)),
  };
}

export async function findBrand(reads: Reads, publicUrl: string, owner: Owner): Promise<Brand | undefined> {
  const row = await reads.one<BrandRow>(sql`
    select ${brandColumns} from branding where ${ofOwner(owner)}`);
  return row && toBrand(row, publicUrl);
}

export async function readBranding(reads: Reads, publicUrl: string, owner: Owner): Promise<Branding> {
  const row = await reads.one<BrandRow & { updatedAt: Date }>(sql`
    select ${brandColumns}, updated_at as "updatedAt" from branding where ${ofOwner(owner)}`);
  const nothing = { name: null, logoUrl: null, color: null, textColor: null, lightAccent: null, darkAccent: null };
  return { ...nothing, ...(row && toBrand(row, publicUrl)), updatedAt: row?.updatedAt.toISOString() ?? null };
}

type UpdateBranding = typeof endpoints.updateBranding;
type Changes = Call<UpdateBranding>['body'];

export async function updateBranding(
  publicUrl: string,
  { caller, body, transact }: Call<UpdateBranding>,
): Promise<Answer<UpdateBranding>> {
  const changes = readChanges(body);
  return transact(async (tx) => {
    await save(tx, caller, changes);
    return readBranding(tx, publicUrl, caller);
  });
}

interface ReadChanges {
  readonly name?: string | null;
  readonly color?: string | null;
  readonly logo?: Logo | null;
}

interface Logo {
  readonly bytes: Buffer;
  readonly type: ImageType;
  readonly hash: string;
}

function readChanges({ name, color, logo }: Changes): ReadChanges {
  return {
    ...(name !== undefined && { name: name === null ? null : readName(name) }),
    ...(color !== undefined && { color: color === null ? null : readColor(color) }),
    ...(logo !== undefined && { logo: logo === null ? null : readLogo(logo) }),
  };
}

function readName(text: string): string {
  const name = storableText(text, text.length).trim();
  if (name === '') throw new ApiError('invalid_request', 'body.name must have letters.');
  return name;
}

function readColor(text: string): string {
  const color = parseColor(text);
  if (!color.ok) throw new ApiError('invalid_request', `body.color ${color.reason}.`);
  return color.value;
}

function readLogo(text: string): Logo {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > MAX_LOGO_BYTES) throw new ApiError('invalid_request', 'body.logo must have at most 128 KiB.');
  const image = readImage(bytes);
  if (!image) throw new ApiError('invalid_request', 'body.logo must be a whole PNG, JPEG or WebP image, in base64.');
  if (image.width > MAX_LOGO_PIXELS || image.height > MAX_LOGO_PIXELS) {
    const size = `${image.width} × ${image.height}`;
    throw new ApiError('invalid_request', `body.logo is ${size} pixels; at most ${MAX_LOGO_PIXELS} a side are taken.`);
  }
  return { bytes, type: image.type, hash: createHash('sha256').update(bytes).digest('hex') };
}

async function save(tx: Db, caller: Caller, changes: ReadChanges): Promise<void> {
  const { organizationId, environment } = caller;
  await tx.run(sql`
    insert into branding (organization_id, environment) values (${organizationId}, ${environment}) on conflict do nothing`);
  const before = await tx.one<{ name: string | null; color: string | null; logoHash: string | null }>(sql`
    select name, color, logo_hash as "logoHash" from branding where ${ofOwner(caller)} for update`);
  if (!before) throw new Error('Branding that was stored is not there.');
  const { logo, ...rest } = changes;
  const after = { ...before, ...rest, ...(logo !== undefined && { logoHash: logo?.hash ?? null }) };
  const changed = Object.entries(after).filter(([key, value]) => before[key as keyof typeof before] !== value);
  if (changed.length === 0) return;
  await tx.run(sql`
    update branding set name = ${after.name}, color = ${after.color}, updated_at = now()
     where ${ofOwner(caller)}`);
  if (logo !== undefined) {
    await tx.run(sql`
      update branding set logo = ${logo?.bytes ?? null}, logo_type = ${logo?.type ?? null}, logo_hash = ${logo?.hash ?? null}
       where ${ofOwner(caller)}`);
  }
  await recordChange(tx, caller, { action: 'branding.updated', changes: Object.fromEntries(changed) });
}

/** The address has the hash of the bytes, so its answer never changes. */
const FOREVER = 'public, max-age=31536000, immutable';

/** Public: mails and claim pages show it. A replaced logo is gone. */
export function registerLogos(app: FastifyInstance, reads: Reads): void {
  app.get<{ Params: { organizationId: string; hash: string } }>(
    `${LOGO_PATH}/:organizationId/:hash`,
    async ({ params: { organizationId, hash } }, reply) => {
      const found = await reads.one<{ logo: Buffer; type: ImageType }>(sql`
        select logo, logo_type as type from branding where organization_id = ${organizationId} and logo_hash = ${hash}
         limit 1`);
      if (!found) throw new ApiError('not_found');
      return reply
        .header('cache-control', FOREVER)
        .header('content-security-policy', "default-src 'none'; sandbox; frame-ancestors 'none'")
        .header('cross-origin-resource-policy', 'cross-origin')
        .type(found.type)
        .send(found.logo);
    },
  );
}

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
