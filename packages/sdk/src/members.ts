import type { AnswerOf, CurrentSession, endpoints, Member, OwnSession, Passkey, Role } from '@svc/protocol';
import { bind, type Client, createCredentialClient, type TransportOptions } from './client/client.ts';
import { SvcInputError } from './client/errors.ts';
import { request } from './client/request.ts';

export interface MemberOptions extends TransportOptions {
  /** The value of the session's cookie. For servers and scripts; refused in a browser. */
  readonly sessionToken: string;
}

export type MemberClient = ReturnType<typeof createMember>;

/**
 * What a person who is signed in may do: members of the organisation and the person's own sessions. No key opens these
 * endpoints. The session's cookie is `svc_session`, by https `__Host-svc_session`.
 *
 * @example
 * const member = createMember({ baseUrl, sessionToken });
 * const { organization, member: me } = await member.getSession();
 */
export function createMember(options: MemberOptions) {
  const on = bind(createCredentialClient(options, sessionHeaders(options)));
  return {
    getSession: on(getSession),
    updateSession: on(updateSession),
    switchOrganization: on(switchOrganization),
    listSessions: on(listSessions),
    revokeSession: on(revokeSession),
    revokeAllSessions: on(revokeAllSessions),
    signOut: on(signOut),
    listPasskeys: on(listPasskeys),
    deletePasskey: on(deletePasskey),
    listMembers: on(listMembers),
    inviteMember: on(inviteMember),
    updateMember: on(updateMember),
    removeMember: on(removeMember),
  };
}

/** A session acts for pages of the service alone, so a script names the page that it stands for. */
function sessionHeaders({ baseUrl, sessionToken }: MemberOptions): Record<string, string> {
  if (typeof sessionToken !== 'string' || !/^[\w-]{43}$/.test(sessionToken)) {
    throw new SvcInputError('invalid_options', "sessionToken must be the value of the session's cookie.");
  }
  const { protocol, origin } = new URL(baseUrl);
  const name = protocol === 'https:' ? '__Host-svc_session' : 'svc_session';
  return { cookie: `${name}=${sessionToken}`, origin };
}

/**
 * Reads who is signed in, the organisation that the session acts in, and all organisations of the person.
 *
 * @example
 * const { organizations, expiresAt } = await member.getSession();
 */
function getSession(client: Client): Promise<CurrentSession> {
  return request<typeof endpoints.getSession>(client, { route: 'GET /session', access: 'session' });
}

/**
 * Changes the name of the person.
 *
 * @example
 * await member.updateSession({ name: 'Ana' });
 */
function updateSession(client: Client, { name }: { readonly name: string }): Promise<CurrentSession> {
  return request<typeof endpoints.updateSession>(client, {
    route: 'PATCH /session',
    access: 'session',
    body: { name },
  });
}

/**
 * Lets the session act in another organisation of the person.
 *
 * @example
 * const [first] = (await member.getSession()).organizations;
 * await member.switchOrganization({ organizationId: first.id });
 */
function switchOrganization(
  client: Client,
  { organizationId }: { readonly organizationId: string },
): Promise<CurrentSession> {
  return request<typeof endpoints.switchOrganization>(client, {
    route: 'POST /session/organization',
    access: 'session',
    body: { organizationId },
  });
}

/**
 * Reads the person's sessions, newest first.
 *
 * @example
 * const sessions = await member.listSessions();
 */
async function listSessions(client: Client): Promise<OwnSession[]> {
  const { data } = await request<typeof endpoints.listOwnSessions>(client, {
    route: 'GET /session/sessions',
    access: 'session',
  });
  return data;
}

type Done = AnswerOf<typeof endpoints.deleteSession>;

/**
 * Ends one of the person's sessions, at once and everywhere.
 *
 * @example
 * for (const { id, isCurrent } of await member.listSessions()) if (!isCurrent) await member.revokeSession({ id });
 */
function revokeSession(client: Client, { id }: { readonly id: string }): Promise<Done> {
  return request<typeof endpoints.revokeOwnSession>(client, {
    route: 'DELETE /session/sessions/{id}',
    access: 'session',
    params: { id },
  });
}

/**
 * Ends all sessions of the person, this one too.
 *
 * @example
 * await member.revokeAllSessions();
 */
function revokeAllSessions(client: Client): Promise<Done> {
  return request<typeof endpoints.revokeOwnSessions>(client, { route: 'DELETE /session/sessions', access: 'session' });
}

/**
 * Ends this session.
 *
 * @example
 * await member.signOut();
 */
function signOut(client: Client): Promise<Done> {
  return request<typeof endpoints.deleteSession>(client, { route: 'DELETE /session', access: 'session' });
}

/**
 * Reads the passkeys that sign the person in.
 *
 * @example
 * const passkeys = await member.listPasskeys();
 */
async function listPasskeys(client: Client): Promise<Passkey[]> {
  const { data } = await request<typeof endpoints.listOwnPasskeys>(client, {
    route: 'GET /session/passkeys/own',
    access: 'session',
  });
  return data;
}

/**
 * Removes a passkey. It can no longer be used to sign in.
 *
 * @example
 * for (const { id, lastUsedAt } of await member.listPasskeys()) if (!lastUsedAt) await member.deletePasskey({ id });
 */
function deletePasskey(client: Client, { id }: { readonly id: string }): Promise<Done> {
  return request<typeof endpoints.deleteOwnPasskey>(client, {
    route: 'DELETE /session/passkeys/own/{id}',
    access: 'session',
    params: { id },
  });
}

/**
 * Reads the members of the organisation, and people who are invited.
 *
 * @example
 * const owners = (await member.listMembers()).filter(({ role }) => role === 'OWNER');
 */
async function listMembers(client: Client): Promise<Member[]> {
  const { data } = await request<typeof endpoints.listMembers>(client, {
    route: 'GET /organization/members',
    access: 'session',
  });
  return data;
}

export interface InviteMemberParams {
  readonly email: string;
  readonly role: Role;
}

/**
 * Sends an invitation by mail; again, for a new link. For owners.
 *
 * @example
 * const { id, state } = await member.inviteMember({ email: 'beto@tienda.example', role: 'DEVELOPER' });
 */
function inviteMember(client: Client, { email, role }: InviteMemberParams): Promise<Member> {
  return request<typeof endpoints.inviteMember>(client, {
    route: 'POST /organization/members',
    access: 'session',
    body: { email, role },
  });
}

export interface UpdateMemberParams {
  readonly id: string;
  readonly role: Role;
}

/**
 * Changes the role of a member. For owners; one of them stays.
 *
 * @example
 * const { id } = await member.inviteMember({ email: 'carla@tienda.example', role: 'VIEWER' });
 * await member.updateMember({ id, role: 'DEVELOPER' });
 */
function updateMember(client: Client, { id, role }: UpdateMemberParams): Promise<Member> {
  return request<typeof endpoints.updateMember>(client, {
    route: 'PATCH /organization/members/{id}',
    access: 'session',
    params: { id },
    body: { role },
  });
}

/**
 * Removes a member, whose sessions end at once, or withdraws an invitation. For owners.
 *
 * @example
 * const { id } = await member.inviteMember({ email: 'dora@tienda.example', role: 'VIEWER' });
 * await member.removeMember({ id });
 */
function removeMember(client: Client, { id }: { readonly id: string }): Promise<Done> {
  return request<typeof endpoints.removeMember>(client, {
    route: 'DELETE /organization/members/{id}',
    access: 'session',
    params: { id },
  });
}
