import { ApiError, type Environment, environments, type Member, type Role } from '@svc/protocol';
import type { Db, Reads } from '@svc/store';
import { type Actor, DEPLOYMENT, operatorOf, recordChange } from '../audit-log.ts';
import type { MemberCaller } from '../http/call.ts';
import { queueMails } from '../mail/mail.ts';
import { findOrganization } from '../organizations/organization-store.ts';
import * as store from './member-store.ts';
import { cancelLinks, createLink, hasManyLinks, pathOfLink, revokeSessions } from './sessions.ts';

const MAX_MEMBERS = 100;

/** How people get their links. */
export interface LinkMails {
  /** Without a slash at the end. */
  readonly publicUrl: string;
  /** Whose mailer sends them; undefined: none, so links are handed over. */
  readonly mailEnvironment: Environment | undefined;
}

export async function listMembers(db: Reads, organizationId: string): Promise<Member[]> {
  return (await store.listMembers(db, organizationId, MAX_MEMBERS)).map(toMember);
}

export interface Invitation {
  readonly email: string;
  readonly role: Role;
}

export interface Invited {
  readonly member: Member;
  /** Where no mail is sent: to hand over. */
  readonly invitationUrl: string | undefined;
}

/** A second invitation of a person who has not joined replaces the first. */
export async function inviteMember(
  tx: Db,
  mails: LinkMails,
  actor: Actor,
  { email, role }: Invitation,
): Promise<Invited> {
  const { organizationId } = actor;
  await store.lockMembers(tx, organizationId);
  const organization = await findOrganization(tx, organizationId);
  if (!organization) throw new ApiError('organization_not_found');
  const { id: personId } = await store.ensurePerson(tx, email);
  const known = await store.findMemberOfPerson(tx, organizationId, personId);
  if (known?.joined_at) throw new ApiError('member_exists');
  if (!known && (await store.countMembers(tx, organizationId)).all >= MAX_MEMBERS) {
    throw new ApiError('member_limit_reached');
  }
  const memberId = known?.id ?? (await store.insertMember(tx, { organizationId, personId, role, joined: false }));
  if (known) {
    await store.setRole(tx, memberId, role);
    await cancelLinks(tx, memberId);
  }
  const link = await createLink(tx, { personId, purpose: 'INVITATION', organizationId, memberId });
  const url = mails.publicUrl + pathOfLink('INVITATION', link.token);
  const content = { orgName: organization.name, invitedBy: actor.member?.email ?? null };
  const isSent = await sendInvitation(tx, mails, { organizationId, email, url, ...content });
  await recordInBoth(tx, actor, 'member.invited', memberId, { email: store.normalizeEmail(email), role });
  const member = toMember(await present(tx, organizationId, memberId));
  return { member, invitationUrl: isSent ? undefined : url };
}

export async function changeRole(tx: Db, caller: MemberCaller, id: string, role: Role): Promise<Member> {
  const member = await lockMember(tx, caller, id);
  if (member.role === role) return toMember(member);
  if (role !== 'OWNER') await requireAnotherOwner(tx, member);
  await store.setRole(tx, id, role);
  await recordInBoth(tx, caller, 'member.updated', id, { email: member.email, role });
  return toMember({ ...member, role });
}

/** Withdraws an invitation too. */
export async function removeMember(tx: Db, caller: MemberCaller, id: string): Promise<void> {
  const member = await lockMember(tx, caller, id);
  await requireAnotherOwner(tx, member);
  await store.removeMember(tx, id);
  await cancelLinks(tx, id);
  await revokeSessions(tx, member.person_id, caller.organizationId);
  await recordInBoth(tx, caller, 'member.removed', id, { email: member.email });
}

/** Rechecks the caller: two owners cannot remove each other. */
async function lockMember(tx: Db, caller: MemberCaller, id: string): Promise<store.MemberRow> {
  const { organizationId } = caller;
  await store.lockMembers(tx, organizationId);
  const own = await store.findMember(tx, organizationId, caller.member.id ?? '');
  if (own?.role !== 'OWNER') throw new ApiError('role_not_sufficient');
  const member = await store.findMember(tx, organizationId, id);
  if (!member) throw new ApiError('member_not_found');
  return member;
}

async function requireAnotherOwner(tx: Db, member: store.MemberRow): Promise<void> {
  if (member.role !== 'OWNER' || !member.joined_at) return;
  if ((await store.countMembers(tx, member.organization_id)).owners <= 1) throw new ApiError('last_owner');
}

/** Members belong to the organisation, so the log of both of its environments shows them. */
export async function recordInBoth(
  tx: Db,
  actor: Actor,
  action: string,
  target: string,
  changes: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const environment of environments)
    await recordChange(tx, { ...actor, environment }, { action, target, changes });
}

async function present(tx: Db, organizationId: string, id: string): Promise<store.MemberRow> {
  const row = await store.findMember(tx, organizationId, id);
  if (!row) throw new ApiError('internal_error');
  return row;
}

function toMember(row: store.MemberRow): Member {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    state: row.joined_at ? 'ACTIVE' : 'INVITED',
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
  };
}

/** At the command line only. The link is answered where no mail is sent. */
export async function inviteOperator(
  tx: Db,
  mails: LinkMails,
  email: string,
): Promise<{ email: string; invitationUrl: string | undefined }> {
  const person = await store.ensurePerson(tx, email);
  await store.makeOperator(tx, person.id);
  const link = await createLink(tx, { personId: person.id, purpose: 'INVITATION' });
  const url = mails.publicUrl + pathOfLink('INVITATION', link.token);
  const about = { organizationId: DEPLOYMENT, email: person.email, url, orgName: null, invitedBy: null };
  const isSent = await sendInvitation(tx, mails, about);
  await recordChange(tx, operatorOf(DEPLOYMENT, 'production'), {
    action: 'operator.invited',
    target: person.id,
    changes: { email: person.email },
  });
  return { email: person.email, invitationUrl: isSent ? undefined : url };
}

interface InvitationMail {
  readonly organizationId: string;
  readonly email: string;
  readonly url: string;
  readonly orgName: string | null;
  readonly invitedBy: string | null;
}

async function sendInvitation(
  tx: Db,
  { mailEnvironment, publicUrl }: LinkMails,
  { organizationId, email, ...content }: InvitationMail,
): Promise<boolean> {
  if (!mailEnvironment) return false;
  const { host } = new URL(publicUrl);
  const mail = { organizationId, environment: mailEnvironment, recipient: store.normalizeEmail(email) };
  await queueMails(tx, [{ ...mail, template: 'invitation', content: { ...content, host } }]);
  return true;
}

/** Nothing happens for an unknown address, or one that was sent enough links lately. */
export function sendSignInLink(db: Db, mails: LinkMails, email: string): Promise<void> {
  return db.tx(async (tx) => {
    const { mailEnvironment, publicUrl } = mails;
    const person = mailEnvironment && (await store.findPerson(tx, email));
    if (!mailEnvironment || !person) return;
    const [organization] = await store.organizationsOf(tx, person.id);
    if (!organization && !(await store.isOperator(tx, person.id))) return;
    if (await hasManyLinks(tx, person.id)) return;
    const link = await createLink(tx, { personId: person.id, purpose: 'SIGN_IN', organizationId: organization?.id });
    const content = { url: publicUrl + pathOfLink('SIGN_IN', link.token), host: new URL(publicUrl).host };
    const mail = { organizationId: organization?.id ?? DEPLOYMENT, environment: mailEnvironment };
    await queueMails(tx, [{ ...mail, recipient: person.email, template: 'sign-in', content }]);
  });
}
