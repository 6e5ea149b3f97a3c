import {
  type Environment,
  environments,
  type OperatorOrganization,
  type OperatorOrganizationDetail,
  parseUsd,
  type Role,
  type Settings,
  type UsdMicros,
  usdToNumber,
} from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import { type OperatorName, operatorOf, recordChange } from '../audit-log.ts';
import {
  type CursorPageOf,
  type CursorQuery,
  microsOf,
  olderThan,
  type Place,
  readCursor,
  toCursorPage,
} from '../http/call.ts';
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
  if (name === 'giftsNeedSecretKey' || name === 'recipientWallets') {
    if (value !== 'true' && value !== 'false') throw new Error(`${name} must be true or false.`);
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

export async function revokeKey(
  tx: Db,
  id: string,
  { operator, organizationId }: { operator?: OperatorName; organizationId?: string } = {},
): Promise<boolean> {
  const row = await store.findKey(tx, id);
  if (!row || (organizationId !== undefined && row.organization_id !== organizationId)) return false;
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

interface OrganizationRow extends Place {
  readonly name: string;
  readonly members: number;
  readonly created_at: Date;
}

interface UseRow {
  readonly organization_id: string;
  readonly environment: Environment;
  readonly available: UsdMicros;
  readonly held: UsdMicros;
  readonly wallets: number;
  readonly last_activity_at: Date | null;
}

const organizationColumns = sql`
  id, ${microsOf(sql`created_at`)} as micros, name, created_at, (
    select count(*)::integer from members
     where organization_id = organizations.id and joined_at is not null and removed_at is null) as members`;

/** By part of the name, by id, or by part of a member's e-mail address. */
function matching(search: string | undefined) {
  if (search === undefined) return sql``;
  const part = `%${search.trim().replace(/[\\%_]/g, '\\$&')}%`;
  return sql`and (name ilike ${part} or id = ${search.trim()} or exists (
    select from members join people on people.id = person_id
     where organization_id = organizations.id and removed_at is null and people.email ilike ${part}))`;
}

export async function listOrganizations(
  reads: Reads,
  query: CursorQuery & { readonly search?: string },
): Promise<CursorPageOf<OperatorOrganization>> {
  const { limit, after } = readCursor(query);
  const rows = await reads.rows<OrganizationRow>(sql`
    select ${organizationColumns} from organizations
     where true ${matching(query.search)} ${olderThan(after, sql`created_at`, sql`id`)}
     order by created_at desc, id desc limit ${limit + 1}`);
  const uses = await readUse(reads, rows);
  return toCursorPage(rows, limit, (row) => toOrganization(row, uses));
}

/** What counts as activity is written down anyway: changes, credits and new wallets. */
function readUse(reads: Reads, rows: readonly Place[]): Promise<UseRow[]> {
  return reads.rows<UseRow>(sql`
    select organization_id, environment, available, held, owned.wallets,
           greatest(owned.newest, credits.newest, changes.newest) as last_activity_at
      from ledger_balances as own
     cross join lateral (
       select count(*)::integer as wallets, max(created_at) as newest from wallets
        where organization_id = own.organization_id and environment = own.environment) as owned
      left join lateral (
       select created_at as newest from ledger_entries
        where organization_id = own.organization_id and environment = own.environment
        order by number desc limit 1) as credits on true
      left join lateral (
       select created_at as newest from audit_log
        where organization_id = own.organization_id and environment = own.environment
        order by id desc limit 1) as changes on true
     where organization_id = any (${rows.map(({ id }) => id)})`);
}

function toOrganization({ id, name, members, created_at }: OrganizationRow, uses: readonly UseRow[]) {
  const useOf = (environment: Environment) => {
    const row = uses.find((use) => use.organization_id === id && use.environment === environment);
    return {
      availableUsd: usdToNumber(row?.available ?? 0n),
      heldUsd: usdToNumber(row?.held ?? 0n),
      wallets: row?.wallets ?? 0,
      lastActivityAt: row?.last_activity_at?.toISOString() ?? null,
    };
  };
  const [production, development] = [useOf('production'), useOf('development')];
  return { id, name, members, production, development, createdAt: created_at.toISOString() };
}

const MAX_SHOWN = 100;

export async function readOrganization(
  reads: Reads,
  id: string,
): Promise<Omit<OperatorOrganizationDetail, 'invitationUrl'> | undefined> {
  const row = await reads.one<OrganizationRow>(sql`select ${organizationColumns} from organizations where id = ${id}`);
  if (!row) return undefined;
  const [uses, keys, people] = await Promise.all([
    readUse(reads, [row]),
    store.newestKeys(reads, id, MAX_SHOWN),
    reads.rows<PersonRow>(sql`
      select members.id, people.email, people.name, members.role, members.joined_at
        from members join people on people.id = person_id
       where organization_id = ${id} and removed_at is null order by members.created_at, members.id limit ${MAX_SHOWN}`),
  ]);
  return {
    ...toOrganization(row, uses),
    keys: keys.map((key) => ({ ...toApiKey(key), environment: key.environment })),
    people: people.map(({ joined_at, ...person }) => ({ ...person, joinedAt: joined_at?.toISOString() ?? null })),
  };
}

interface PersonRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly joined_at: Date | null;
}
