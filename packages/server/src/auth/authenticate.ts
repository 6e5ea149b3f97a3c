import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Access,
  ApiError,
  type Environment,
  type ErrorCode,
  environments,
  includesRole,
  recipientMayCall,
  requiredRole,
} from '@svc/protocol';
import type { Db } from '@svc/store';
import type { Logger } from 'pino';
import { DEPLOYMENT } from '../audit-log.ts';
import type { Authenticate, Caller, Credentialed, Guard, Member } from '../http/call.ts';
import { clientOf, type Decision, type RateLimiter, TooManyRequests } from '../http/limits.ts';
import {
  findSession,
  hashToken,
  looksLikeToken,
  readSessionCookie,
  type SessionRow,
  touchSession,
} from '../members/sessions.ts';
import { hashSecret, looksLikeKey } from '../organizations/api-keys.ts';
import type { EnvironmentRow, KeyRow } from '../organizations/organization-store.ts';
import * as store from '../organizations/organization-store.ts';
import { isRecipientToken, type RecipientTokens, UnguessedTokenError, type UserTokens } from './user-tokens.ts';

interface SessionReads {
  session(tokenHash: Buffer): Promise<SessionRow | undefined>;
  newestPublicKey(organizationId: string, environment: Environment): Promise<KeyRow | undefined>;
}

interface Site {
  /** Undefined where the deployment has no PUBLIC_URL: then its address is the one that browsers ask for. */
  readonly publicUrl: string | undefined;
}

interface SessionAuthenticator {
  readonly credentials: SessionReads;
  readonly site: Site;
  readonly db: Db;
}

const isSecure = ({ publicUrl }: Site): boolean => publicUrl?.startsWith('https:') ?? false;

const hasSessionCookie = (headers: IncomingHttpHeaders, site: Site): boolean =>
  readSessionCookie(headers.cookie, isSecure(site)) !== undefined;

/** The member of the cookie, as far as the role allows what is asked. */
async function memberCaller(
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
function requireOwnOrigin({ publicUrl }: Site, headers: IncomingHttpHeaders): void {
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

/** Tokens of the larger identity providers stay under 4 kB. */
export const MAX_TOKEN_LENGTH = 6_144;

export interface Authenticator extends SessionAuthenticator {
  readonly credentials: CredentialCache;
  readonly userTokens: UserTokens;
  readonly recipientTokens: RecipientTokens;
  /** Undefined: operators sign in. */
  readonly operatorToken: string | undefined;
}

/** A request with a key or token is its key's, also where the browser adds a cookie. */
export function createAuthenticate(authenticator: Authenticator): Authenticate {
  return async (guard, request) => {
    const { access } = guard;
    const { headers } = request;
    if (access === 'none') return undefined;
    if (access === 'sign-in') {
      requireOwnOrigin(authenticator.site, headers);
      return undefined;
    }
    if (access === 'operator' && headers.authorization !== undefined) return operatorCaller(authenticator, headers);
    if (isForMembers(guard)) return memberCaller(authenticator, guard, headers);
    const hasKey = headers['x-api-key'] !== undefined || headers.authorization !== undefined;
    if (!hasKey && headers.cookie !== undefined && hasSessionCookie(headers, authenticator.site)) {
      return memberCaller(authenticator, guard, headers);
    }
    return keyCaller(authenticator, guard, request);
  };
}

/** A script of the operator. Hashes have one length, so the comparison tells nothing of the token. */
function operatorCaller({ operatorToken }: Authenticator, headers: IncomingHttpHeaders): Caller {
  const bearer = readBearer(headers.authorization) ?? '';
  if (!bearer.startsWith('op_')) throw new ApiError('operator_required');
  const digest = (text: string) => hash('sha256', text, 'buffer');
  if (operatorToken === undefined || !timingSafeEqual(digest(bearer), digest(operatorToken))) {
    throw new ApiError('invalid_token');
  }
  return {
    organizationId: DEPLOYMENT,
    environment: 'production',
    keyId: 'operator',
    apiPublicKey: undefined,
    proof: 'secret key',
    externalUserId: undefined,
  };
}

const isForMembers = ({ access }: Guard): boolean => access === 'session' || access === 'operator';

async function keyCaller(authenticator: Authenticator, guard: Guard, request: Credentialed): Promise<Caller> {
  const { access } = guard;
  const { headers } = request;
  const publicKey = headers['x-api-key'];
  const bearer = readBearer(headers.authorization);
  requireCredentials(access, publicKey !== undefined, bearer !== undefined);
  refuseSwapped(access, publicKey, bearer);
  if (bearer?.startsWith('sk_') && access !== 'recipient') {
    const { credentials } = authenticator;
    return credentials.caller(digestOf(request), () => secretKeyCaller(authenticator, publicKey, bearer));
  }

  const known = publicKey === undefined ? undefined : await publicKeyOf(authenticator, publicKey);
  if (bearer === undefined) {
    if (!known) throw new ApiError('missing_credentials');
    if (access === 'either' && (await settingsOf(authenticator, known)).gifts_need_secret_key) {
      throw new ApiError('secret_key_required', 'This organisation manages gifts with its secret key only.');
    }
    return toCaller(known, known, 'public key');
  }
  if (access === 'secret' || access === 'either' || !known) throw new ApiError('secret_key_required');
  const settings = await settingsOf(authenticator, known);
  if (access === 'recipient' && !isRecipientToken(bearer)) throw new ApiError('recipient_required');
  if (isRecipientToken(bearer)) {
    const { externalUserId, walletAddress } = await authenticator.recipientTokens.read(bearer, settings);
    if (!recipientMayCall(guard)) throw new ApiError('secret_key_required');
    return { ...toCaller(known, known, 'user token', externalUserId), walletAddress };
  }
  return toCaller(known, known, 'user token', await authenticator.userTokens.externalUserId(bearer, settings));
}

async function secretKeyCaller(
  authenticator: Authenticator,
  publicKey: string | string[] | undefined,
  bearer: string,
): Promise<Caller> {
  const known = publicKey === undefined ? undefined : await publicKeyOf(authenticator, publicKey);
  const secret = await secretKeyOf(authenticator, bearer);
  if (known && !isSameEnvironment(known, secret)) throw new ApiError('invalid_api_key');
  return { ...toCaller(known ?? secret, known, 'secret key'), secretKeyId: secret.id };
}

function requireCredentials(access: Access, hasPublicKey: boolean, hasBearer: boolean): void {
  const complete =
    access === 'either' ? hasPublicKey || hasBearer : access === 'public' ? hasPublicKey : hasPublicKey && hasBearer;
  if (!complete) throw new ApiError('missing_credentials');
}

const PLACES = 'The public key (pk_…) goes into x-api-key, the secret key (sk_…) into Authorization: Bearer.';

function refuseSwapped(access: Access, publicKey: string | string[] | undefined, bearer: string | undefined): void {
  const isSecret = typeof publicKey === 'string' && publicKey.startsWith('sk_');
  const isPublic = bearer?.startsWith('pk_') ?? false;
  if (isSecret) {
    throw new ApiError(
      'invalid_api_key',
      `${isPublic ? 'The keys are swapped.' : 'x-api-key has a secret key.'} ${PLACES}`,
    );
  }
  if (!isPublic) return;
  const takesToken = publicKey !== undefined && access !== 'secret' && access !== 'either';
  throw new ApiError(takesToken ? 'invalid_token' : 'secret_key_required', `Authorization has a public key. ${PLACES}`);
}

function readBearer(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [scheme, token, ...rest] = header.split(' ');
  if (scheme?.toLowerCase() !== 'bearer' || !token || rest.length > 0) {
    throw new ApiError('invalid_token', 'The Authorization header must be "Bearer" and one key or token.');
  }
  if (token.length > MAX_TOKEN_LENGTH) {
    throw new ApiError('invalid_token', `The bearer token is longer than ${MAX_TOKEN_LENGTH} characters.`);
  }
  return token;
}

async function publicKeyOf(authenticator: Authenticator, value: string | string[]): Promise<KeyRow> {
  const isKey = typeof value === 'string' && looksLikeKey(value, 'public');
  return requireActive(isKey ? await authenticator.credentials.publicKey(value) : undefined);
}

async function secretKeyOf(authenticator: Authenticator, value: string): Promise<KeyRow> {
  return requireActive(looksLikeKey(value, 'secret') ? await authenticator.credentials.secretKey(value) : undefined);
}

// Callers cannot tell unknown and revoked keys apart.
function requireActive(row: KeyRow | undefined): KeyRow {
  if (!row || row.revoked_at !== null) throw new ApiError('invalid_api_key');
  return row;
}

async function settingsOf(authenticator: Authenticator, key: KeyRow): Promise<EnvironmentRow> {
  const settings = await authenticator.credentials.environment(key.organization_id, key.environment);
  if (!settings) throw new ApiError('invalid_api_key');
  return settings;
}

function isSameEnvironment(one: KeyRow, other: KeyRow): boolean {
  return one.organization_id === other.organization_id && one.environment === other.environment;
}

function toCaller(
  counted: KeyRow,
  publicKey: KeyRow | undefined,
  proof: Caller['proof'],
  externalUserId?: string,
): Caller {
  return {
    organizationId: counted.organization_id,
    environment: counted.environment,
    keyId: counted.id,
    apiPublicKey: publicKey?.public_key ?? undefined,
    proof,
    externalUserId,
  };
}

/** Credentials of as many callers as a process remembers; the oldest is forgotten first. */
const MAX_PROVEN = 10_000;

/** At an address's limit, credentials that were right before still pass: others behind it are not locked out. */
export function limitFailures(
  authenticate: Authenticate,
  failures: RateLimiter,
  log: Pick<Logger, 'warn'>,
): Authenticate {
  const proven = new Set<string>();
  return async (guard, request) => {
    if (guard.access === 'none' || guard.access === 'sign-in') return authenticate(guard, request);
    const { ip } = request;
    const credentials = digestOf(request);
    const isProven = proven.has(credentials);
    const refusal = isProven ? undefined : failures.refusal(counterOf(ip));
    if (refusal) throw tooMany(refusal);
    try {
      const caller = await authenticate(guard, request);
      if (!isProven) remember(proven, credentials);
      return caller;
    } catch (error) {
      if (!isGuess(error)) throw error;
      proven.delete(credentials);
      const decision = await failures.take(counterOf(ip));
      if (decision.remaining === 0) log.warn({ client: clientOf(ip) }, 'failed authentications at their limit');
      throw decision.allowed ? error : tooMany(decision);
    }
  };
}

const counterOf = (ip: string) => `failed ${clientOf(ip)}`;
const tooMany = ({ resetSeconds }: Decision) => new TooManyRequests(resetSeconds);

/** A request without credentials, with those of the wrong kind, or with an expired token guesses nothing. */
const isGuess = (error: unknown): boolean =>
  error instanceof ApiError && !(error instanceof UnguessedTokenError) && guesses.has(error.code);

const guesses: ReadonlySet<ErrorCode> = new Set(['invalid_api_key', 'invalid_token', 'invalid_session']);

interface Digested {
  readonly key: string | string[] | undefined;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly digest: string;
}

/** Of the last request of each connection: the next one has the same credentials, as a rule. */
const digested = new WeakMap<object, Digested>();

/** Stands for the credentials of a request where they are remembered. */
function digestOf({ headers, socket }: Credentialed): string {
  const { 'x-api-key': key, authorization, cookie } = headers;
  const last = digested.get(socket);
  if (last && last.key === key && last.authorization === authorization && last.cookie === cookie) return last.digest;
  // As a list: joined, the header `undefined` would look like one that is missing.
  const digest = hash('sha256', JSON.stringify([key ?? null, authorization ?? null, cookie ?? null]), 'base64');
  digested.set(socket, { key, authorization, cookie, digest });
  return digest;
}

function remember(proven: Set<string>, credentials: string): void {
  const [oldest] = proven;
  if (proven.size >= MAX_PROVEN && oldest !== undefined) proven.delete(oldest);
  proven.add(credentials);
}

/** Bounds a missed notification, twice over: a caller is made of rows that may have been read before. */
const MAX_AGE_MS = 15_000;
/** Unknown keys are cached too; a full cache is cleared. */
const MAX_ENTRIES = 10_000;

interface Entry {
  readonly value: unknown;
  readonly expiresAt: number;
}

/** Caches organisations, keys and their callers, settings and sessions while change notifications arrive (`trusted`); a notification clears it. */
export class CredentialCache {
  readonly #db: Db;
  readonly #trusted: () => boolean;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  #generation = 0;

  constructor(db: Db, trusted: () => boolean, now: () => number = Date.now) {
    this.#db = db;
    this.#trusted = trusted;
    this.#now = now;
  }

  publicKey(publicKey: string): Promise<store.KeyRow | undefined> {
    return this.#cached(`public ${publicKey}`, () => store.findPublicKey(this.#db, publicKey));
  }

  secretKey(secret: string): Promise<store.KeyRow | undefined> {
    const hash = hashSecret(secret);
    return this.#cached(`secret ${hash}`, () => store.findSecretKey(this.#db, hash));
  }

  /** Not where `find` throws. */
  caller(digest: string, find: () => Promise<Caller>): Promise<Caller> {
    return this.#cached(`caller ${digest}`, find);
  }

  newestPublicKey(organizationId: string, environment: Environment): Promise<store.KeyRow | undefined> {
    const key = `newest ${organizationId} ${environment}`;
    return this.#cached(key, () => store.findNewestPublicKey(this.#db, { organizationId, environment }));
  }

  session(tokenHash: Buffer): Promise<SessionRow | undefined> {
    return this.#cached(`session ${tokenHash.toString('base64')}`, () => findSession(this.#db, tokenHash));
  }

  organization(id: string): Promise<store.OrganizationRow | undefined> {
    return this.#cached(`organization ${id}`, () => store.findOrganization(this.#db, id));
  }

  environment(organizationId: string, environment: Environment): Promise<store.EnvironmentRow | undefined> {
    const key = `environment ${organizationId} ${environment}`;
    return this.#cached(key, () => store.findEnvironment(this.#db, organizationId, environment));
  }

  clear(): void {
    this.#generation++;
    this.#entries.clear();
  }

  async #cached<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known && known.expiresAt > this.#now() && this.#trusted()) return known.value as T;
    const generation = this.#generation;
    const value = await read();
    // The value read may be older than a change announced meanwhile.
    if (generation === this.#generation && this.#trusted()) {
      if (this.#entries.size >= MAX_ENTRIES) this.#entries.clear();
      this.#entries.set(key, { value, expiresAt: this.#now() + MAX_AGE_MS });
    }
    return value;
  }
}
