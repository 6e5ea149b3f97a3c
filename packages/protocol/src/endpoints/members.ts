import { endpoint } from '../endpoint.ts';
import { Success } from '../schemas/common.ts';
import * as schema from '../schemas/member.ts';

const tag = 'Members';

export const getSession = endpoint({
  operationId: 'getSession',
  method: 'GET',
  path: '/session',
  tag,
  summary: 'Read who is signed in',
  access: 'session',
  answers: { 200: schema.CurrentSession },
});

export const deleteSession = endpoint({
  operationId: 'deleteSession',
  method: 'DELETE',
  path: '/session',
  tag,
  summary: 'Sign out',
  access: 'session',
  answers: { 200: Success },
});

export const redeemMailLink = endpoint({
  operationId: 'redeemMailLink',
  method: 'POST',
  path: '/session/mail-links/redeem',
  tag,
  summary: 'Sign in with a link, or accept an invitation',
  description: 'The answer sets the cookie of the session. A link works once.',
  access: 'sign-in',
  body: schema.RedeemMailLink,
  startsSession: true,
  answers: { 200: schema.CurrentSession },
  errors: ['invalid_request', 'invalid_link'],
});

export const createDevelopmentLink = endpoint({
  operationId: 'createDevelopmentLink',
  method: 'POST',
  path: '/session/development',
  tag,
  summary: 'Make a link that signs in as the owner of the development organisation',
  description: 'Only in the embedded default, and only for requests of the same machine; otherwise 404.',
  access: 'sign-in',
  answers: { 200: schema.DevelopmentLink },
  shownOnce: ['path'],
  errors: ['not_found'],
});

export const updateSession = endpoint({
  operationId: 'updateSession',
  method: 'PATCH',
  path: '/session',
  tag,
  summary: 'Change your name',
  access: 'session',
  body: schema.UpdateSession,
  answers: { 200: schema.CurrentSession },
});

export const switchOrganization = endpoint({
  operationId: 'switchOrganization',
  method: 'POST',
  path: '/session/organization',
  tag,
  summary: 'Look at another of your organisations with this session',
  access: 'session',
  body: schema.SwitchOrganization,
  answers: { 200: schema.CurrentSession },
  errors: ['organization_not_found'],
});

export const listOwnSessions = endpoint({
  operationId: 'listOwnSessions',
  method: 'GET',
  path: '/session/sessions',
  tag,
  summary: 'List your sessions, newest first',
  access: 'session',
  answers: { 200: schema.OwnSessionList },
});

export const revokeOwnSessions = endpoint({
  operationId: 'revokeOwnSessions',
  method: 'DELETE',
  path: '/session/sessions',
  tag,
  summary: 'Sign out everywhere, here too',
  access: 'session',
  answers: { 200: Success },
});

export const revokeOwnSession = endpoint({
  operationId: 'revokeOwnSession',
  method: 'DELETE',
  path: '/session/sessions/{id}',
  tag,
  summary: 'End one of your sessions, at once and on every replica',
  access: 'session',
  params: schema.SessionParams,
  answers: { 200: Success },
  errors: ['session_not_found'],
});

export const requestMailLink = endpoint({
  operationId: 'requestMailLink',
  method: 'POST',
  path: '/session/mail-links',
  tag,
  summary: 'Have a link to sign in sent by mail',
  description: 'The answer is the same for every address. Only members and operators get a mail.',
  access: 'sign-in',
  body: schema.RequestMailLink,
  answers: { 200: Success },
});

export const createPasskeyChallenge = endpoint({
  operationId: 'createPasskeyChallenge',
  method: 'POST',
  path: '/session/passkeys/options',
  tag,
  summary: 'Begin to sign in with a passkey',
  description: 'The challenge works once, for five minutes.',
  access: 'sign-in',
  answers: { 200: schema.PasskeyOptions },
  errors: ['passkeys_unavailable'],
});

export const verifyPasskey = endpoint({
  operationId: 'verifyPasskey',
  method: 'POST',
  path: '/session/passkeys/verify',
  tag,
  summary: 'Sign in with a passkey',
  description: 'The answer sets the cookie of the session.',
  access: 'sign-in',
  body: schema.VerifyPasskey,
  startsSession: true,
  answers: { 200: schema.CurrentSession },
  errors: ['invalid_passkey', 'passkeys_unavailable'],
});

export const listOwnPasskeys = endpoint({
  operationId: 'listOwnPasskeys',
  method: 'GET',
  path: '/session/passkeys/own',
  tag,
  summary: 'List your passkeys',
  access: 'session',
  answers: { 200: schema.PasskeyList },
});

export const createOwnPasskeyChallenge = endpoint({
  operationId: 'createOwnPasskeyChallenge',
  method: 'POST',
  path: '/session/passkeys/own/options',
  tag,
  summary: 'Begin to add a passkey',
  access: 'session',
  answers: { 200: schema.NewPasskeyOptions },
  errors: ['passkeys_unavailable', 'passkey_limit_reached'],
});

export const registerOwnPasskey = endpoint({
  operationId: 'registerOwnPasskey',
  method: 'POST',
  path: '/session/passkeys/own',
  tag,
  summary: 'Add a passkey',
  access: 'session',
  body: schema.RegisterPasskey,
  answers: { 201: schema.Passkey },
  errors: ['invalid_passkey', 'passkeys_unavailable', 'passkey_limit_reached'],
});

export const deleteOwnPasskey = endpoint({
  operationId: 'deleteOwnPasskey',
  method: 'DELETE',
  path: '/session/passkeys/own/{id}',
  tag,
  summary: 'Remove a passkey',
  access: 'session',
  params: schema.PasskeyParams,
  answers: { 200: Success },
  errors: ['passkey_not_found'],
});

export const listMembers = endpoint({
  operationId: 'listMembers',
  method: 'GET',
  path: '/organization/members',
  tag,
  summary: 'List the members of your organisation and open invitations',
  access: 'session',
  role: 'VIEWER',
  answers: { 200: schema.MemberList },
});

export const inviteMember = endpoint({
  operationId: 'inviteMember',
  method: 'POST',
  path: '/organization/members',
  tag,
  summary: 'Invite a member by mail; again, for a new link',
  access: 'session',
  role: 'OWNER',
  body: schema.InviteMember,
  answers: { 201: schema.Member },
  errors: ['member_exists', 'member_limit_reached', 'mail_not_configured'],
});

export const updateMember = endpoint({
  operationId: 'updateMember',
  method: 'PATCH',
  path: '/organization/members/{id}',
  tag,
  summary: 'Change the role of a member',
  access: 'session',
  role: 'OWNER',
  params: schema.MemberParams,
  body: schema.UpdateMember,
  answers: { 200: schema.Member },
  errors: ['member_not_found', 'last_owner'],
});

export const removeMember = endpoint({
  operationId: 'removeMember',
  method: 'DELETE',
  path: '/organization/members/{id}',
  tag,
  summary: 'Remove a member and end its sessions, or withdraw an invitation',
  access: 'session',
  role: 'OWNER',
  params: schema.MemberParams,
  answers: { 200: Success },
  errors: ['member_not_found', 'last_owner'],
});
