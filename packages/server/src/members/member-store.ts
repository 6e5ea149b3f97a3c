import type { Role } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import { newId } from '../util/ids.ts';

export interface PersonRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

export interface MemberRow {
  readonly id: string;
  readonly organization_id: string;
  readonly person_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly created_at: Date;
  readonly joined_at: Date | null;
  readonly last_seen_at: Date | null;
}

export const normalizeEmail = (email: string): string => email.trim().toLowerCase();

export async function ensurePerson(tx: Db, email: string, name = ''): Promise<PersonRow> {
  const row = await tx.one<PersonRow>(sql`
    insert into people (id, email, name) values (${newId('per')}, ${normalizeEmail(email)}, ${name})
    on conflict (email) do update set email = excluded.email
    returning id, email, name`);
  if (!row) throw new Error('The person was not stored.');
  return row;
}

export function findPerson(db: Db, email: string): Promise<PersonRow | undefined> {
  return db.one(sql`select id, email, name from people where email = ${normalizeEmail(email)}`);
}

export async function renamePerson(tx: Db, personId: string, name: string): Promise<void> {
  await tx.run(sql`update people set name = ${name} where id = ${personId}`);
}

const memberColumns = sql`
  members.id, members.organization_id, members.person_id, people.email, people.name, members.role, members.created_at,
  members.joined_at, (
    select max(last_seen_at) from member_sessions
     where member_sessions.person_id = members.person_id
       and member_sessions.organization_id = members.organization_id) as last_seen_at`;
const current = sql`
  from members join people on people.id = members.person_id where members.removed_at is null`;

export function listMembers(db: Reads, organizationId: string, limit: number): Promise<MemberRow[]> {
  return db.rows(sql`
    select ${memberColumns} ${current} and members.organization_id = ${organizationId}
     order by members.created_at, members.id limit ${limit}`);
}

export function findMember(db: Db, organizationId: string, id: string): Promise<MemberRow | undefined> {
  return db.one(sql`
    select ${memberColumns} ${current} and members.organization_id = ${organizationId} and members.id = ${id}`);
}

export function findMemberOfPerson(db: Db, organizationId: string, personId: string): Promise<MemberRow | undefined> {
  return db.one(sql`
    select ${memberColumns} ${current}
       and members.organization_id = ${organizationId} and members.person_id = ${personId}`);
}

export interface NewMember {
  readonly organizationId: string;
  readonly personId: string;
  readonly role: Role;
  readonly joined: boolean;
}

export async function insertMember(tx: Db, member: NewMember): Promise<string> {
  const id = newId('mem');
  await tx.run(sql`
    insert into members (id, organization_id, person_id, role, joined_at)
    values (${id}, ${member.organizationId}, ${member.personId}, ${member.role},
            case when ${member.joined}::boolean then now() end)`);
  return id;
}

export async function joinMember(tx: Db, id: string): Promise<boolean> {
  const joined = await tx.run(sql`
    update members set joined_at = coalesce(joined_at, now()) where id = ${id} and removed_at is null`);
  return joined === 1;
}

export async function setRole(tx: Db, id: string, role: Role): Promise<void> {
  await tx.run(sql`update members set role = ${role} where id = ${id}`);
}

export async function removeMember(tx: Db, id: string): Promise<void> {
  await tx.run(sql`update members set removed_at = now() where id = ${id} and removed_at is null`);
}

/** Serialises changes of an organisation's members, so that two owners cannot remove each other. */
export async function lockMembers(tx: Db, organizationId: string): Promise<void> {
  await tx.run(sql`select from organizations where id = ${organizationId} for no key update`);
}

export async function countMembers(tx: Db, organizationId: string): Promise<{ all: number; owners: number }> {
  const row = await tx.one<{ all: number; owners: number }>(sql`
    select count(*)::integer as all, count(*) filter (where role = 'OWNER' and joined_at is not null)::integer as owners
      from members where organization_id = ${organizationId} and removed_at is null`);
  return row ?? { all: 0, owners: 0 };
}

export interface OrganizationOfPerson {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

/** More than a person looks after. */
const MAX_ORGANIZATIONS = 100;

export function organizationsOf(db: Reads, personId: string): Promise<OrganizationOfPerson[]> {
  return db.rows(sql`
    select organizations.id, organizations.name, members.role
      from members join organizations on organizations.id = members.organization_id
     where members.person_id = ${personId} and members.removed_at is null and members.joined_at is not null
     order by members.joined_at, members.id limit ${MAX_ORGANIZATIONS}`);
}

export async function makeOperator(tx: Db, personId: string): Promise<void> {
  await tx.run(sql`insert into operators (person_id) values (${personId}) on conflict do nothing`);
}

export async function isOperator(db: Db, personId: string): Promise<boolean> {
  return (await db.one(sql`select from operators where person_id = ${personId}`)) !== undefined;
}
