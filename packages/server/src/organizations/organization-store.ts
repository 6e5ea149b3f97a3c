import type { Environment } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';

export interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
}

export interface KeyRow {
  readonly id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  readonly kind: KeyKind;
  readonly public_key: string | null;
  readonly prefix: string;
  readonly last_four: string;
  readonly created_at: Date;
  readonly revoked_at: Date | null;
}

export interface Owner {
  readonly organizationId: string;
  readonly environment: Environment;
}

export interface EnvironmentRow {
  readonly organization_id: string;
  readonly environment: Environment;
  readonly jwks_url: string | null;
  readonly jwt_issuer: string | null;
  readonly jwt_audience: string | null;
  readonly jwt_user_claim: string;
  readonly gifts_need_secret_key: boolean;
  readonly notification_email: string | null;
  readonly public_key_gifts_daily_micros: bigint | null;
  readonly recipient_wallets: boolean;
  readonly recipient_app_url: string | null;
}

export interface StoredEnvironmentRow extends EnvironmentRow {
  readonly updated_at: Date;
}

const keyColumns = sql`
  id, organization_id, environment, kind, public_key, prefix, last_four, created_at, revoked_at`;
const environmentColumns = sql`
  organization_id, environment, jwks_url, jwt_issuer, jwt_audience, jwt_user_claim, gifts_need_secret_key,
  notification_email, public_key_gifts_daily_micros, recipient_wallets, recipient_app_url, updated_at`;

export function insertOrganization(db: Db, id: string, name: string): Promise<number> {
  return db.run(sql`
    with organization as (insert into organizations (id, name) values (${id}, ${name}) returning id)
    insert into environments (organization_id, environment)
    select organization.id, environment from organization, unnest(array['production', 'development']) environment`);
}

export function findOrganization(db: Db, id: string): Promise<OrganizationRow | undefined> {
  return db.one(sql`select id, name, created_at from organizations where id = ${id}`);
}

export function listOrganizations(db: Db, limit: number): Promise<OrganizationRow[]> {
  return db.rows(sql`select id, name, created_at from organizations order by created_at, id limit ${limit}`);
}

export async function claimDevelopment(db: Db, organizationId: string): Promise<boolean> {
  const claimed = await db.run(sql`
    insert into development_organization (organization_id) values (${organizationId}) on conflict do nothing`);
  return claimed === 1;
}

export function findDevelopmentOrganization(db: Db): Promise<OrganizationRow | undefined> {
  return db.one(sql`
    select o.id, o.name, o.created_at from development_organization d join organizations o on o.id = d.organization_id`);
}

export interface NewKey {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly kind: KeyKind;
  readonly publicKey: string | null;
  /** Base64. */
  readonly secretHash: string | null;
  readonly prefix: string;
  readonly lastFour: string;
}

export async function insertKey(db: Db, key: NewKey): Promise<boolean> {
  const stored = await db.run(sql`
    insert into api_keys (id, organization_id, environment, kind, public_key, secret_hash, prefix, last_four)
    values (${key.id}, ${key.organizationId}, ${key.environment}, ${key.kind}, ${key.publicKey}, decode(${key.secretHash}, 'base64'),
            ${key.prefix}, ${key.lastFour})
    on conflict do nothing`);
  return stored === 1;
}

export function findPublicKey(db: Db, publicKey: string): Promise<KeyRow | undefined> {
  return db.one(sql`select ${keyColumns} from api_keys where public_key = ${publicKey} and kind = 'public'`);
}

export function findSecretKey(db: Db, secretHash: string): Promise<KeyRow | undefined> {
  return db.one(sql`
    select ${keyColumns} from api_keys where secret_hash = decode(${secretHash}, 'base64') and kind = 'secret'`);
}

export function findKey(db: Db, id: string): Promise<KeyRow | undefined> {
  return db.one(sql`select ${keyColumns} from api_keys where id = ${id}`);
}

export function findNewestPublicKey(db: Db, { organizationId, environment }: Owner): Promise<KeyRow | undefined> {
  return db.one(sql`
    select ${keyColumns} from api_keys
    where organization_id = ${organizationId} and environment = ${environment} and kind = 'public' and revoked_at is null
    order by created_at desc, id desc limit 1`);
}

export function listKeys(db: Db, organizationId: string, limit: number): Promise<KeyRow[]> {
  return db.rows(sql`
    select ${keyColumns} from api_keys where organization_id = ${organizationId}
    order by environment, created_at, id limit ${limit}`);
}

/** Of both environments, those in use first. */
export function newestKeys(db: Reads, organizationId: string, limit: number): Promise<KeyRow[]> {
  return db.rows(sql`
    select ${keyColumns} from api_keys where organization_id = ${organizationId}
    order by revoked_at is not null, created_at desc, id desc limit ${limit}`);
}

export async function listKeysOf(
  db: Reads,
  { organizationId, environment }: Owner,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: KeyRow[]; total: number }> {
  const matching = sql`from api_keys where organization_id = ${organizationId} and environment = ${environment}`;
  const [rows, count] = await Promise.all([
    db.rows<KeyRow>(sql`
      select ${keyColumns} ${matching} order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total ${matching}`),
  ]);
  return { rows, total: Number(count?.total ?? 0n) };
}

export async function countKeysInUse(db: Db, { organizationId, environment }: Owner, kind: KeyKind): Promise<number> {
  const count = await db.one<{ total: bigint }>(sql`
    select count(*) as total from api_keys
    where organization_id = ${organizationId} and environment = ${environment} and kind = ${kind} and revoked_at is null`);
  return Number(count?.total ?? 0n);
}

export async function countInUse(db: Db, ids: readonly string[]): Promise<number> {
  const count = await db.one<{ total: bigint }>(sql`
    select count(*) as total from api_keys where id = any(${ids}::text[]) and revoked_at is null`);
  return Number(count?.total ?? 0n);
}

export async function revokeKey(db: Db, id: string): Promise<boolean> {
  const revoked = await db.run(sql`update api_keys set revoked_at = now() where id = ${id} and revoked_at is null`);
  return revoked === 1;
}

export function findEnvironment(
  db: Db,
  organizationId: string,
  environment: Environment,
): Promise<StoredEnvironmentRow | undefined> {
  return db.one(sql`
    select ${environmentColumns} from environments
    where organization_id = ${organizationId} and environment = ${environment}`);
}

/** Locks the environment's settings and keys until the transaction ends. */
export function lockEnvironment(
  tx: Db,
  { organizationId, environment }: Owner,
): Promise<StoredEnvironmentRow | undefined> {
  return tx.one(sql`
    select ${environmentColumns} from environments
    where organization_id = ${organizationId} and environment = ${environment} for no key update`);
}

export async function updateEnvironment(db: Db, row: EnvironmentRow): Promise<boolean> {
  const updated = await db.run(sql`
    update environments
    set jwks_url = ${row.jwks_url}, jwt_issuer = ${row.jwt_issuer}, jwt_audience = ${row.jwt_audience},
        jwt_user_claim = ${row.jwt_user_claim}, gifts_need_secret_key = ${row.gifts_need_secret_key},
        notification_email = ${row.notification_email},
        public_key_gifts_daily_micros = ${row.public_key_gifts_daily_micros},
        recipient_wallets = ${row.recipient_wallets}, recipient_app_url = ${row.recipient_app_url}, updated_at = now()
    where organization_id = ${row.organization_id} and environment = ${row.environment}`);
  return updated === 1;
}

export interface NotificationAddress {
  readonly address: string;
  readonly organizationName: string;
}

/** Undefined: no mail wanted. */
export async function notificationAddress(
  db: Db,
  organizationId: string,
  environment: Environment,
): Promise<NotificationAddress | undefined> {
  const settings = await findEnvironment(db, organizationId, environment);
  if (!settings?.notification_email) return undefined;
  const organization = await findOrganization(db, organizationId);
  return organization && { address: settings.notification_email, organizationName: organization.name };
}

export interface Organizations {
  organization(id: string): Promise<OrganizationRow | undefined>;
}

export type KeyKind = 'public' | 'secret';
