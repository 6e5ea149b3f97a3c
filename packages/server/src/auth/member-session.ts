import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, type Environment, environments, includesRole, requiredRole } from '@svc/protocol';
import type { Db } from '@svc/store';
import type { Caller, Guard, Member } from '../http/call.ts';
import { hashToken, looksLikeToken, readSessionCookie, type SessionRow, touchSession } from '../members/sessions.ts';
import type { KeyRow } from '../organizations/organization-store.ts';

export interface SessionReads {
  session(tokenHash: Buffer): Promise<SessionRow | undefined>;
  newestPublicKey(organizationId: string, environment: Environment): Promise<KeyRow | undefined>;
}

export interface Site {
  /** Undefined where the deployment has no PUBLIC_URL: then its address is the one that browsers ask for. */
  readonly publicUrl: string | undefined;
}

export interface SessionAuthenticator {
  readonly credentials: SessionReads;
  readonly site: Site;
  readonly db: Db;
}

export const isSecure = ({ publicUrl }: Site): boolean => publicUrl?.startsWith('https:') ?? false;

export const hasSessionCookie = (headers: IncomingHttpHeaders, site: Site): boolean =>
  readSessionCookie(headers.cookie, isSecure(site)) !== undefined;

/** The member of the cookie, as far as the role allows what is asked. */
export async function memberCaller(
  authenticator: SessionAuthenticator,
  guard: Guard,
  headers: IncomingHttpHeaders,
): Promise<Caller> {
  const { site } = authenticator;
  const token = readSessionCookie(headers.cookie, isSecure(site));
  if (token === undefined) throw new ApiError('sign_in_required');
  if (guard.method !== 'GET') requireOwnOrigin(site, headers);
  const session = looksLikeToken(token) ? await authenticator.credentials.session(hashToken(token)) : undefined;
  if (!session || session.expiresAt.getTime() <= Date.now()) throw new ApiError('invalid_session');
  const environment = readEnvironment(guard, headers);
  requireRole(guard, session, environment);
  await touchSession(authenticator.db, session, Date.now());
  const organizationId = session.organizationId ?? NO_ORGANIZATION;
  const key = session.organizationId
    ? await authenticator.credentials.newestPublicKey(organizationId, environment)
    : undefined;
  return {
    organizationId,
    environment,
    keyId: `member:${session.memberId ?? session.personId}`,
    apiPublicKey: key?.public_key ?? undefined,
    proof: 'secret key',
    externalUserId: undefined,
    member: toMember(session),
  };
}

/** Of an operator without one: no row has it. */
const NO_ORGANIZATION = '';

function toMember({ id, personId, memberId, email, name, role, isOperator, expiresAt }: SessionRow): Member {
  return { id: memberId, personId, sessionId: id, email, name, role, isOperator, expiresAt };
}

/** Organisation-wide endpoints need no environment and count as production. */
function readEnvironment({ access }: Guard, headers: IncomingHttpHeaders): Environment {
  const text = headers['x-svc-environment'];
  const named = environments.find((environment) => environment === text);
  if (named) return named;
  if (text === undefined && (access === 'session' || access === 'operator')) return 'production';
  throw new ApiError('environment_required');
}

function requireRole(guard: Guard, { role, isOperator }: SessionRow, environment: Environment): void {
  if (guard.access === 'operator') {
    if (isOperator) return;
    throw new ApiError('operator_required');
  }
  // A person without an organisation still has a session to read and end.
  if (guard.access === 'session' && guard.role === undefined) return;
  const needed = requiredRole(guard, environment);
  if (role !== null && includesRole(role, needed)) return;
  const who = role === null ? 'You are not a member of an organisation.' : `Your role is ${role}.`;
  throw new ApiError('role_not_sufficient', `${who} This needs the role ${needed} or above.`);
}

/** Browsers name the page that a request comes from; scripts that use a session name it themselves. */
export function requireOwnOrigin({ publicUrl }: Site, headers: IncomingHttpHeaders): void {
  const { origin, host } = headers;
  if (origin !== undefined) {
    const isOwn =
      publicUrl === undefined
        ? URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()
        : origin === new URL(publicUrl).origin;
    if (isOwn) return;
  } else if (headers['sec-fetch-site'] === 'same-origin') return;
  throw new ApiError('origin_not_allowed');
}
