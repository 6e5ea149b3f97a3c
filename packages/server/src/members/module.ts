import { ApiError, type CurrentSession, type Environment, type endpoints, environments } from '@svc/protocol';
import type { Database, Db, Reads } from '@svc/store';
import type { Call, Handlers, Member } from '../http/call.ts';
import { countInWindow } from '../http/limits.ts';
import type { Jobs, Module } from '../http/module.ts';
import { enqueue } from '../jobs/job.ts';
import * as store from './member-store.ts';
import {
  changeRole,
  inviteMember,
  type LinkMails,
  listMembers,
  recordInBoth,
  removeMember,
  sendSignInLink,
} from './members.ts';
import * as passkeys from './passkeys.ts';
import * as sessions from './sessions.ts';

export interface MemberDeps extends LinkMails {
  readonly db: Database;
  /** `clear` drops this process's copy of sessions; other processes are notified by the database. */
  readonly credentials: { clear(): void };
  /** Whether cookies travel by https only. */
  readonly isSecure: boolean;
  /** Undefined where browsers have no passkeys for the address. */
  readonly passkeySite: passkeys.PasskeySite | undefined;
  readonly isConfigured: (environment: Environment) => boolean;
  /** Whose links a page on this machine may ask for; undefined outside the embedded default. */
  readonly development: sessions.DevelopmentOwner | undefined;
}

type SessionOperation =
  | 'getSession'
  | 'updateSession'
  | 'deleteSession'
  | 'switchOrganization'
  | 'listOwnSessions'
  | 'revokeOwnSession'
  | 'revokeOwnSessions';
type SignInOperation =
  | 'requestMailLink'
  | 'redeemMailLink'
  | 'createDevelopmentLink'
  | 'createPasskeyChallenge'
  | 'verifyPasskey';
type PasskeyOperation = 'listOwnPasskeys' | 'createOwnPasskeyChallenge' | 'registerOwnPasskey' | 'deleteOwnPasskey';
type MemberOperation = 'listMembers' | 'inviteMember' | 'updateMember' | 'removeMember';
type Operation = SessionOperation | SignInOperation | PasskeyOperation | MemberOperation;

export function create(deps: MemberDeps): Module<Operation> {
  return {
    handlers: {
      ...sessionHandlers(deps),
      ...signInHandlers(deps),
      ...passkeyHandlers(deps),
      ...memberHandlers(deps),
    },
    jobs: [signInJobs(deps)],
  };
}

function sessionHandlers(deps: MemberDeps): Pick<Handlers, SessionOperation> {
  const { db, credentials, isSecure } = deps;
  return {
    getSession: ({ caller }) => currentSession(deps, db.reads, caller.member, caller.organizationId),
    updateSession: async ({ caller, body }) => {
      const name = body.name.trim();
      await store.renamePerson(db, caller.member.personId, name);
      credentials.clear();
      return currentSession(deps, db.reads, { ...caller.member, name }, caller.organizationId);
    },
    deleteSession: async ({ caller, setCookie }) => {
      await sessions.revokeSession(db, caller.member.personId, caller.member.sessionId);
      credentials.clear();
      setCookie?.(sessions.endedCookie(isSecure));
      return { success: true };
    },
    switchOrganization: async ({ caller, body, transact }) => {
      const { personId, sessionId } = caller.member;
      const answer = await transact(async (tx) => {
        const chosen = await store.findMemberOfPerson(tx, body.organizationId, personId);
        if (!chosen?.joined_at) throw new ApiError('organization_not_found');
        await sessions.chooseOrganization(tx, sessionId, chosen.organization_id);
        const member = { ...caller.member, id: chosen.id, role: chosen.role };
        return currentSession(deps, tx, member, chosen.organization_id);
      });
      credentials.clear();
      return answer;
    },
    listOwnSessions: async ({ caller }) => {
      const rows = await sessions.listSessions(db.reads, caller.member.personId);
      return { data: rows.map((row) => toOwnSession(row, caller.member.sessionId)) };
    },
    revokeOwnSession: async ({ caller, params }) => {
      if (!(await sessions.revokeSession(db, caller.member.personId, params.id))) {
        throw new ApiError('session_not_found');
      }
      credentials.clear();
      return { success: true };
    },
    revokeOwnSessions: async ({ caller, setCookie }) => {
      await sessions.revokeSessions(db, caller.member.personId);
      credentials.clear();
      setCookie?.(sessions.endedCookie(isSecure));
      return { success: true };
    },
  };
}

const toOwnSession = (row: sessions.OwnSessionRow, currentId: string) => ({
  id: row.id,
  isCurrent: row.id === currentId,
  userAgent: row.user_agent,
  createdAt: row.created_at.toISOString(),
  lastSeenAt: row.last_seen_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
});

/** Of one client address in a minute. */
const MAIL_LINKS_PER_MINUTE = 20;
const SEND_LINK_TASK = 'send-sign-in-link';
const SEND_ATTEMPTS = 5;

function signInHandlers(deps: MemberDeps): Pick<Handlers, SignInOperation> {
  const { db, development, passkeySite } = deps;
  return {
    requestMailLink: async ({ body, client }) => {
      await countInWindow(db, `sign-in mails of ${client}`, 1, MAIL_LINKS_PER_MINUTE);
      // A job looks the address up, so that the time of the answer does not tell whether it is known.
      await enqueue(db, { task: SEND_LINK_TASK, payload: { email: body.email }, maxAttempts: SEND_ATTEMPTS });
      return { success: true };
    },
    redeemMailLink: (call) =>
      signIn(deps, call, async (tx) => {
        const { token, joined } = await sessions.redeemLink(tx, call.body.token, call.body.name, call.userAgent);
        if (joined) {
          const { id, organization_id: organizationId, email, role } = joined;
          const actor = { organizationId, environment: 'production', keyId: `member:${id}`, member: joined } as const;
          await recordInBoth(tx, actor, 'member.joined', id, { email, role });
        }
        return token;
      }),
    createDevelopmentLink: async ({ isLocal }) => {
      if (!development || !isLocal) throw new ApiError('not_found');
      const { token, expiresAt } = await sessions.createDevelopmentLink(db, development);
      return { path: sessions.pathOfLink('SIGN_IN', token), expiresAt: expiresAt.toISOString() };
    },
    createPasskeyChallenge: async () => ({ options: await passkeys.signInOptions(db, passkeySite) }),
    verifyPasskey: async (call) => {
      const personId = await passkeys.verifySignIn(db, passkeySite, call.body.response);
      return signIn(deps, call, async (tx) => {
        const [organization] = await store.organizationsOf(tx, personId);
        if (!organization && !(await store.isOperator(tx, personId))) throw new ApiError('invalid_passkey');
        const organizationId = organization?.id ?? null;
        return (await sessions.startSession(tx, { personId, organizationId, userAgent: call.userAgent })).token;
      });
    },
  };
}

type SignInCall = Pick<Call<typeof endpoints.redeemMailLink>, 'transact' | 'setCookie'>;

/** Starts a session and sets its cookie. `start` answers the token. */
async function signIn(
  deps: MemberDeps,
  { transact, setCookie }: SignInCall,
  start: (tx: Db) => Promise<string>,
): Promise<CurrentSession> {
  let token = '';
  const answer = await transact(async (tx) => {
    token = await start(tx);
    const row = await sessions.findSession(tx, sessions.hashToken(token));
    if (!row) throw new ApiError('internal_error');
    const member = { ...row, id: row.memberId, sessionId: row.id };
    return currentSession(deps, tx, member, row.organizationId ?? '');
  });
  deps.credentials.clear();
  setCookie?.(sessions.sessionCookie(token, deps.isSecure));
  return answer as CurrentSession;
}

function passkeyHandlers({ db, passkeySite }: MemberDeps): Pick<Handlers, PasskeyOperation> {
  return {
    listOwnPasskeys: async ({ caller }) => ({ data: await passkeys.listPasskeys(db.reads, caller.member.personId) }),
    createOwnPasskeyChallenge: async ({ caller }) => ({
      options: await passkeys.registrationOptions(db, passkeySite, caller.member),
    }),
    registerOwnPasskey: ({ caller, body }) => passkeys.registerPasskey(db, passkeySite, caller.member, body),
    deleteOwnPasskey: async ({ caller, params }) => {
      await passkeys.deletePasskey(db, caller.member.personId, params.id);
      return { success: true };
    },
  };
}

function memberHandlers(deps: MemberDeps): Pick<Handlers, MemberOperation> {
  const { db, credentials } = deps;
  return {
    listMembers: async ({ caller }) => ({ data: await listMembers(db.lists, caller.organizationId) }),
    inviteMember: async ({ caller, body, transact }) => {
      // A link proves that its reader has the mailbox, so it is never shown to the member who invites.
      if (!deps.mailEnvironment) throw new ApiError('mail_not_configured');
      return transact(async (tx) => (await inviteMember(tx, deps, caller, body)).member);
    },
    updateMember: async ({ caller, params, body, transact }) => {
      const member = await transact((tx) => changeRole(tx, caller, params.id, body.role));
      credentials.clear();
      return member;
    },
    removeMember: async ({ caller, params, transact }) => {
      const answer = await transact(async (tx) => {
        await removeMember(tx, caller, params.id);
        return { success: true };
      });
      credentials.clear();
      return answer;
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

function signInJobs(deps: MemberDeps): Jobs {
  const { db } = deps;
  return {
    handlers: {
      [SEND_LINK_TASK]: ({ email }: { email: string }) => sendSignInLink(db, deps, email),
      'forget-sessions': async () => {
        await passkeys.deleteOldChallenges(db);
        await sessions.deleteOldLinks(db);
        await sessions.deleteOldSessions(db);
      },
    },
    recurring: [{ task: 'forget-sessions', everySeconds: 3_600 }],
  };
}
