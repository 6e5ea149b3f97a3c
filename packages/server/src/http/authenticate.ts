import type { IncomingHttpHeaders } from 'node:http';
import { type Access, ApiError } from '@svc/protocol';
import { looksLikeKey } from '../organizations/keys.ts';
import type { EnvironmentRow, KeyRow } from '../organizations/store.ts';
import type { Caller } from './caller.ts';
import type { CredentialCache } from './credential-cache.ts';
import type { UserTokens } from './user-token.ts';

/** Tokens of the larger identity providers stay under 4 kB. */
const MAX_TOKEN_LENGTH = 6_144;

export interface Authenticator {
  readonly credentials: CredentialCache;
  readonly userTokens: UserTokens;
}

/** Answers who is calling, `undefined` where nobody needs to say, or throws the 401 to answer with. */
export async function authenticate(
  authenticator: Authenticator,
  access: Access,
  headers: IncomingHttpHeaders,
): Promise<Caller | undefined> {
  if (access === 'none') return undefined;
  const publicKey = headers['x-api-key'];
  const bearer = readBearer(headers.authorization);
  requirePresence(access, publicKey !== undefined, bearer !== undefined);

  const known = publicKey === undefined ? undefined : await publicKeyOf(authenticator, publicKey);
  if (bearer === undefined) {
    if (!known) throw new ApiError('missing_credentials');
    if (access === 'either' && (await settingsOf(authenticator, known)).gifts_need_secret_key) {
      throw new ApiError('secret_key_required', 'This organisation manages gifts with its secret key only.');
    }
    return caller(known, known, 'public key');
  }
  if (bearer.startsWith('sk_')) {
    const secret = await secretKeyOf(authenticator, bearer);
    if (known && !belongTogether(known, secret)) throw new ApiError('invalid_api_key');
    return { ...caller(known ?? secret, known, 'secret key'), secretKeyId: secret.id };
  }
  if (access === 'secret' || access === 'either' || !known) throw new ApiError('secret_key_required');
  return caller(known, known, 'user token', await userOf(authenticator, known, bearer));
}

function requirePresence(access: Access, hasPublicKey: boolean, hasBearer: boolean): void {
  const complete =
    access === 'either' ? hasPublicKey || hasBearer : access === 'public' ? hasPublicKey : hasPublicKey && hasBearer;
  if (!complete) throw new ApiError('missing_credentials');
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
  return alive(isKey ? await authenticator.credentials.publicKey(value) : undefined);
}

async function secretKeyOf(authenticator: Authenticator, value: string): Promise<KeyRow> {
  return alive(looksLikeKey(value, 'secret') ? await authenticator.credentials.secretKey(value) : undefined);
}

// Unknown and revoked look alike from outside.
function alive(row: KeyRow | undefined): KeyRow {
  if (!row || row.revoked_at !== null) throw new ApiError('invalid_api_key');
  return row;
}

async function userOf(authenticator: Authenticator, key: KeyRow, token: string): Promise<string> {
  return authenticator.userTokens.externalUserId(token, await settingsOf(authenticator, key));
}

async function settingsOf(authenticator: Authenticator, key: KeyRow): Promise<EnvironmentRow> {
  const settings = await authenticator.credentials.environment(key.organization_id, key.environment);
  if (!settings) throw new ApiError('invalid_api_key');
  return settings;
}

function belongTogether(one: KeyRow, other: KeyRow): boolean {
  return one.organization_id === other.organization_id && one.environment === other.environment;
}

function caller(
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
