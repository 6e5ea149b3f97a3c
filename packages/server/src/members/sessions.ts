import { hash, randomBytes } from 'node:crypto';
import { ApiError, type Role } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import { newId } from '../util/ids.ts';
import { oneLine } from '../util/text.ts';
import * as store from './member-store.ts';

/** An unused session ends after this; a dashboard stays open for a working day. */
const IDLE_HOURS = 12;
const MAX_DAYS = 30;
const DAY_MS = 86_400_000;
/** How exact `last_seen_at` is: one write in this time for each session and process. */
const SEEN_EVERY_MS = 300_000;
/** Devices of one person; the oldest session ends with the next sign-in. */
const MAX_SESSIONS = 20;
const MAX_USER_AGENT = 200;
const TOKEN_BYTES = 32;
const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits, so a plain SHA-256 is enough. */
export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');
export const looksLikeToken = (text: string): boolean => TOKEN_PATTERN.test(text);
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer');

export interface SessionRow {
  readonly id: string;
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly organizationId: string | null;
  readonly memberId: string | null;
  readonly role: Role | null;
  readonly isOperator: boolean;
  readonly expiresAt: Date;
  lastSeenAt: Date;
}

const isAlive = sql`
  member_sessions.revoked_at is null and member_sessions.expires_at > now()
  and member_sessions.last_seen_at > now() - make_interval(hours => ${IDLE_HOURS})`;

/** Undefined for one that ended. The role is that of the organisation chosen, while the person is its member. */
export function findSession(db: Db, tokenHash: Buffer): Promise<SessionRow | undefined> {
  return db.one(sql`
    select member_sessions.id, people.id as "personId", people.email, people.name,
           members.organization_id as "organizationId", members.id as "memberId", members.role,
           operators.person_id is not null as "isOperator",
           member_sessions.expires_at as "expiresAt", member_sessions.last_seen_at as "lastSeenAt"
      from member_sessions
      join people on people.id = member_sessions.person_id
      left join members on members.person_id = people.id
       and members.organization_id = member_sessions.organization_id
       and members.removed_at is null and members.joined_at is not null
      left join operators on operators.person_id = people.id
     where member_sessions.token_hash = ${tokenHash} and ${isAlive}`);
}

export interface NewSession {
  readonly personId: string;
  readonly organizationId: string | null;
  readonly userAgent: string | undefined;
}

export interface StartedSession {
  readonly id: string;
  /** For the cookie; stored nowhere. */
  readonly token: string;
}

export async function startSession(tx: Db, session: NewSession): Promise<StartedSession> {
  const [id, token] = [newId('ses'), newToken()];
  await tx.run(sql`
    insert into member_sessions (id, token_hash, person_id, organization_id, user_agent, expires_at)
    values (${id}, ${hashToken(token)}, ${session.personId}, ${session.organizationId},
            ${oneLine(session.userAgent ?? '', MAX_USER_AGENT)}, now() + make_interval(days => ${MAX_DAYS}))`);
  await tx.run(sql`
    update member_sessions set revoked_at = now()
     where revoked_at is null and id in (
       select id from member_sessions where person_id = ${session.personId} and revoked_at is null
        order by created_at desc, id desc offset ${MAX_SESSIONS})`);
  return { id, token };
}

/** Notes that the session is in use, at most every few minutes. */
export async function touchSession(db: Db, session: SessionRow, now: number): Promise<void> {
  if (now - session.lastSeenAt.getTime() < SEEN_EVERY_MS) return;
  session.lastSeenAt = new Date(now);
  await db.run(sql`update member_sessions set last_seen_at = now() where id = ${session.id}`);
}

export interface OwnSessionRow {
  readonly id: string;
  readonly user_agent: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
}

export function listSessions(db: Reads, personId: string): Promise<OwnSessionRow[]> {
  return db.rows(sql`
    select id, user_agent, created_at, last_seen_at, expires_at from member_sessions
     where person_id = ${personId} and ${isAlive}
     order by created_at desc, id desc limit ${MAX_SESSIONS}`);
}

export async function revokeSession(tx: Db, personId: string, id: string): Promise<boolean> {
  const revoked = await tx.run(sql`
    update member_sessions set revoked_at = now()
     where id = ${id} and person_id = ${personId} and revoked_at is null`);
  return revoked === 1;
}

/** Of one person: all, or those in one organisation. */
export async function revokeSessions(tx: Db, personId: string, organizationId?: string): Promise<number> {
  const inOrganization = organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`;
  return tx.run(sql`
    update member_sessions set revoked_at = now()
     where person_id = ${personId} and revoked_at is null ${inOrganization}`);
}

export async function chooseOrganization(tx: Db, id: string, organizationId: string): Promise<void> {
  await tx.run(sql`update member_sessions set organization_id = ${organizationId} where id = ${id}`);
}

export async function deleteOldSessions(db: Db): Promise<number> {
  return db.run(sql`delete from member_sessions where expires_at < now() - make_interval(days => ${MAX_DAYS})`);
}

/** `__Host-` keeps other hosts of the domain from setting it; it needs https. */
export const cookieName = (isSecure: boolean): string => (isSecure ? '__Host-svc_session' : 'svc_session');

export function sessionCookie(token: string, isSecure: boolean): string {
  return cookie(token, (MAX_DAYS * DAY_MS) / 1_000, isSecure);
}

export const endedCookie = (isSecure: boolean): string => cookie('', 0, isSecure);

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${isSecure ? '; Secure' : ''}`;
  return `${cookieName(isSecure)}=${value}; ${attributes}`;
}

/** The session's token of a Cookie header; undefined where there is none. */
export function readSessionCookie(header: string | undefined, isSecure: boolean): string | undefined {
  if (header === undefined) return undefined;
  const name = `${cookieName(isSecure)}=`;
  const found = header.split(';').find((pair) => pair.trimStart().startsWith(name));
  return found?.trim().slice(name.length);
}

const SIGN_IN_MINUTES = 15;
const INVITATION_DAYS = 7;
/** Mails that one person gets while a link is valid, however often they are asked for. */
const MAX_RECENT_LINKS = 5;

export interface NewLink {
  readonly personId: string;
  readonly purpose: 'SIGN_IN' | 'INVITATION';
  /** The organisation that the session starts in. */
  readonly organizationId?: string | undefined;
  /** The membership that an invitation activates. */
  readonly memberId?: string | undefined;
}

export interface Link {
  /** In the address; stored as a hash. */
  readonly token: string;
  readonly expiresAt: Date;
}

export async function createLink(tx: Db, link: NewLink): Promise<Link> {
  const token = newToken();
  const minutes = link.purpose === 'SIGN_IN' ? SIGN_IN_MINUTES : INVITATION_DAYS * 24 * 60;
  const row = await tx.one<{ expires_at: Date }>(sql`
    insert into sign_in_links (token_hash, purpose, person_id, organization_id, member_id, expires_at)
    values (${hashToken(token)}, ${link.purpose}, ${link.personId}, ${link.organizationId ?? null},
            ${link.memberId ?? null}, now() + make_interval(mins => ${minutes}))
    returning expires_at`);
  if (!row) throw new Error('The link was not stored.');
  return { token, expiresAt: row.expires_at };
}

export const pathOfLink = (purpose: NewLink['purpose'], token: string): string =>
  purpose === 'SIGN_IN' ? `/dashboard/sign-in/${token}` : `/dashboard/invitation/${token}`;

export async function hasManyLinks(tx: Db, personId: string): Promise<boolean> {
  const row = await tx.one<{ links: number }>(sql`
    select count(*)::integer as links from sign_in_links
     where person_id = ${personId} and purpose = 'SIGN_IN'
       and created_at > now() - make_interval(mins => ${SIGN_IN_MINUTES})`);
  return (row?.links ?? 0) >= MAX_RECENT_LINKS;
}

/** Links that were not used, such as those of an invitation that is withdrawn. */
export async function cancelLinks(tx: Db, memberId: string): Promise<void> {
  await tx.run(sql`
    update sign_in_links set used_at = now() where member_id = ${memberId} and used_at is null`);
}

export interface RedeemedLink extends StartedSession {
  /** The membership that began with it. */
  readonly joined: store.MemberRow | undefined;
}

/** Uses the link and starts a session. All failures look the same. */
export async function redeemLink(
  tx: Db,
  token: string,
  name: string | undefined,
  userAgent: string | undefined,
): Promise<RedeemedLink> {
  if (!looksLikeToken(token)) throw new ApiError('invalid_link');
  const link = await tx.one<LinkRow>(sql`
    update sign_in_links set used_at = now()
     where token_hash = ${hashToken(token)} and used_at is null and expires_at > now()
    returning person_id, organization_id, member_id`);
  if (!link) throw new ApiError('invalid_link');
  const personId = link.person_id;
  const joined = link.member_id === null ? undefined : await join(tx, link, link.member_id);
  if (name) await store.renamePerson(tx, personId, name.trim());
  const organizations = await store.organizationsOf(tx, personId);
  const wanted = organizations.find(({ id }) => id === link.organization_id) ?? organizations[0];
  if (!wanted && !(await store.isOperator(tx, personId))) throw new ApiError('invalid_link');
  const session = await startSession(tx, { personId, organizationId: wanted?.id ?? null, userAgent });
  return { ...session, joined };
}

interface LinkRow {
  readonly person_id: string;
  readonly organization_id: string | null;
  readonly member_id: string | null;
}

async function join(tx: Db, link: LinkRow, memberId: string): Promise<store.MemberRow> {
  const member = await store.findMember(tx, link.organization_id ?? '', memberId);
  if (!member || !(await store.joinMember(tx, memberId))) throw new ApiError('invalid_link');
  return member;
}

/** A day later the support can still tell that a link was used. */
export async function deleteOldLinks(db: Db): Promise<number> {
  return db.run(sql`delete from sign_in_links where expires_at < now() - interval '1 day'`);
}

/** No mail server has it: links for it are printed, never sent. */
const OWNER_EMAIL = 'owner@localhost';

export interface DevelopmentOwner {
  readonly organizationId: string;
  /** Where live money is, the operators are those that were invited. */
  readonly isOperator: boolean;
}

/** A link that signs in as the owner of the development organisation, who is made where there is none. */
export function createDevelopmentLink(db: Db, { organizationId, isOperator }: DevelopmentOwner): Promise<Link> {
  return db.tx(async (tx) => {
    await store.lockMembers(tx, organizationId);
    const { id: personId } = await store.ensurePerson(tx, OWNER_EMAIL, 'Development');
    const known = await store.findMemberOfPerson(tx, organizationId, personId);
    if (!known) await store.insertMember(tx, { organizationId, personId, role: 'OWNER', joined: true });
    if (isOperator) await store.makeOperator(tx, personId);
    return createLink(tx, { personId, purpose: 'SIGN_IN', organizationId });
  });
}
