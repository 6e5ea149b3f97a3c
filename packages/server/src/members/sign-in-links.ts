import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import * as store from './member-store.ts';
import { hashToken, looksLikeToken, newToken, type StartedSession, startSession } from './sessions.ts';

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
