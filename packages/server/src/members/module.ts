import { ApiError, type CurrentSession, type Environment, environments } from '@svc/protocol';
import type { Database, Reads } from '@svc/store';
import type { Handlers, Member } from '../http/call.ts';
import type { Jobs, Module } from '../http/module.ts';
import type { Organizations } from '../organizations/organization-store.ts';
import { createDevelopmentLink, type DevelopmentOwner } from './development.ts';
import * as store from './member-store.ts';
import { deleteOldSessions, endedCookie, findSession, hashToken, revokeSession, sessionCookie } from './sessions.ts';
import { deleteOldLinks, pathOfLink, redeemLink } from './sign-in-links.ts';

export interface MemberDeps {
  readonly db: Database;
  /** `clear` drops this process's copy of sessions; other processes are notified by the database. */
  readonly credentials: Organizations & { clear(): void };
  /** Whether cookies travel by https only. */
  readonly isSecure: boolean;
  readonly isConfigured: (environment: Environment) => boolean;
  /** Whose links a page on this machine may ask for; undefined outside the embedded default. */
  readonly development: DevelopmentOwner | undefined;
}

type SessionOperation = 'getSession' | 'deleteSession' | 'redeemMailLink' | 'createDevelopmentLink';

export function create(deps: MemberDeps): Module<SessionOperation> {
  return { handlers: sessionHandlers(deps), jobs: [maintenance(deps)] };
}

function sessionHandlers(deps: MemberDeps): Pick<Handlers, SessionOperation> {
  const { db, credentials, isSecure, development } = deps;
  return {
    getSession: ({ caller }) => currentSession(deps, db.reads, caller.member, caller.organizationId),
    deleteSession: async ({ caller, setCookie }) => {
      await revokeSession(db, caller.member.personId, caller.member.sessionId);
      credentials.clear();
      setCookie?.(endedCookie(isSecure));
      return { success: true };
    },
    redeemMailLink: async ({ body, userAgent, setCookie, transact }) => {
      let token = '';
      const answer = await transact(async (tx) => {
        const session = await redeemLink(tx, body.token, { name: body.name, userAgent });
        token = session.token;
        const row = await findSession(tx, hashToken(token));
        if (!row) throw new ApiError('internal_error');
        const member = { ...row, id: row.memberId, sessionId: row.id };
        return currentSession(deps, tx, member, row.organizationId ?? '');
      });
      credentials.clear();
      setCookie?.(sessionCookie(token, isSecure));
      return answer;
    },
    createDevelopmentLink: async ({ isLocal }) => {
      if (!development || !isLocal) throw new ApiError('not_found');
      const { token, expiresAt } = await createDevelopmentLink(db, development);
      return { path: pathOfLink('SIGN_IN', token), expiresAt: expiresAt.toISOString() };
    },
  };
}

async function currentSession(
  { isConfigured }: MemberDeps,
  db: Reads,
  { sessionId, personId, id, email, name, role, isOperator, expiresAt }: Member,
  organizationId: string,
): Promise<CurrentSession> {
  const organizations = await store.organizationsOf(db, personId);
  const chosen = organizations.find((organization) => organization.id === organizationId);
  return {
    id: sessionId,
    member: { id, email, name, role },
    organization: chosen ? { id: chosen.id, name: chosen.name } : null,
    organizations,
    isOperator,
    environments: environments.map((each) => ({ name: each, isConfigured: isConfigured(each) })),
    expiresAt: expiresAt.toISOString(),
  };
}

function maintenance({ db }: MemberDeps): Jobs {
  return {
    handlers: {
      'forget-sessions': async () => {
        await deleteOldLinks(db);
        await deleteOldSessions(db);
      },
    },
    recurring: [{ task: 'forget-sessions', everySeconds: 3_600 }],
  };
}
