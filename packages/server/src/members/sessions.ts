import { hash, randomBytes } from 'node:crypto';
import type { Role } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import { newId } from '../util/ids.ts';
import { oneLine } from '../util/text.ts';

/** A session that nobody uses ends after this; the dashboard of a whole working day stays open. */
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
