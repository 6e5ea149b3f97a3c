import { hkdfSync } from 'node:crypto';
import { ApiError, type Environment, RECIPIENT_PREFIX, type StarknetAddress } from '@svc/protocol';
import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { EnvironmentRow } from '../organizations/organization-store.ts';
import { type AddressGuard, trusted } from '../outbound/address-guard.ts';
import { outboundRequest } from '../outbound/request.ts';

export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'];
export const CLOCK_TOLERANCE_SECONDS = 5;
/** A hundred RSA keys are about 50 kB. */
const KEY_SET_BYTES = 256 * 1024;
const KEY_SET_TIMEOUT_MS = 5_000;
/** At most one read in this time, whether reads succeed or fail. */
const KEY_SET_COOLDOWN_MS = 30_000;
/** Older keys are read again; while that fails they still serve. */
const KEY_SET_MAX_AGE_MS = 600_000;
const MAX_KEY_SETS = 1_000;
const MAX_SUBJECT_LENGTH = 256;

/** Its token cannot have been guessed, because its signature is right, or was not looked at. */
export class UnguessedTokenError extends ApiError {
  constructor(why: string) {
    super('invalid_token', `The bearer token is not valid: ${why}`);
  }
}

interface UserTokenOptions {
  readonly guard: (environment: Environment) => AddressGuard;
  readonly sandboxKeySet: string | undefined;
  /** Key sets of production without issuer and audience, from before these were required, serve until then. */
  readonly unboundUntil?: Date | undefined;
  readonly now?: () => Date;
}

export class UserTokens {
  readonly #options: UserTokenOptions;
  readonly #keySets = new Map<string, KeySet>();

  constructor(options: UserTokenOptions) {
    this.#options = options;
  }

  async externalUserId(token: string, settings: EnvironmentRow): Promise<string> {
    const url = keySetOf(settings);
    const now = this.#options.now?.() ?? new Date();
    if (isUnbound(settings) && !(this.#options.unboundUntil && now < this.#options.unboundUntil)) {
      throw new UnguessedTokenError('the settings of this organisation need jwtIssuer and jwtAudience.');
    }
    const payload = await this.#verify(token, url, settings, now);
    if (typeof payload.iat === 'number' && payload.iat > now.getTime() / 1000 + CLOCK_TOLERANCE_SECONDS) {
      throw new UnguessedTokenError('it was issued in the future.');
    }
    const subject = payload[settings.jwt_user_claim];
    if (typeof subject !== 'string' || subject.length === 0 || subject.length > MAX_SUBJECT_LENGTH) {
      throw new UnguessedTokenError(`its claim "${settings.jwt_user_claim}" is not a user identifier.`);
    }
    // They sign in at the service; a provider where people choose their name must not stand in for them.
    if (subject.startsWith(RECIPIENT_PREFIX)) {
      throw new UnguessedTokenError(`user identifiers that begin with ${RECIPIENT_PREFIX} are reserved.`);
    }
    if (subject.includes('\0') || !subject.isWellFormed()) {
      throw new UnguessedTokenError('its user identifier is not valid text.');
    }
    return subject;
  }

  /** Throws where the key set cannot be read. */
  async loadKeySet(settings: EnvironmentRow): Promise<void> {
    await this.#keySet(keySetOf(settings), settings).require();
  }

  findKey(settings: EnvironmentRow, ...asked: Parameters<JWTVerifyGetKey>): ReturnType<KeySet['find']> {
    return this.#keySet(keySetOf(settings), settings).find(...asked);
  }

  async #verify(token: string, keySet: string, settings: EnvironmentRow, now: Date): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, (header, jws) => this.#keySet(keySet, settings).find(header, jws), {
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: now,
        requiredClaims: ['exp'],
        ...(settings.jwt_issuer !== null && { issuer: settings.jwt_issuer }),
        ...(settings.jwt_audience !== null && { audience: settings.jwt_audience }),
      });
      return payload;
    } catch (error) {
      throw error instanceof ApiError ? error : refusal(error);
    }
  }

  /** Not shared between environments: what development may read, production may not. */
  #keySet(setting: string, { environment }: EnvironmentRow): KeySet {
    const name = `${environment} ${setting}`;
    const known = this.#keySets.get(name);
    if (known) return known;
    const { guard, sandboxKeySet, now } = this.#options;
    const url = setting === 'sandbox' ? sandboxKeySet : setting;
    if (url === undefined) throw invalid('the development identity provider is switched off.');
    if (this.#keySets.size >= MAX_KEY_SETS) this.#keySets.clear();
    const keySet = new KeySet(
      () => readKeySet(url, setting === 'sandbox' ? trusted() : guard(environment)),
      () => now?.().getTime() ?? Date.now(),
    );
    this.#keySets.set(name, keySet);
    return keySet;
  }
}

function keySetOf({ jwks_url: url, environment }: EnvironmentRow): string {
  if (url === null) throw invalid('this organisation has no key set for user tokens.');
  // The development identity provider issues tokens to anyone.
  if (url === 'sandbox' && environment !== 'development') {
    throw invalid('the development identity provider does not serve production.');
  }
  return url;
}

/** An identity provider's keys. What was read once keeps serving its key ids while the provider is down. */
class KeySet {
  readonly #read: () => Promise<JSONWebKeySet>;
  readonly #now: () => number;
  #keys: JWTVerifyGetKey | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #failure: unknown;

  constructor(read: () => Promise<JSONWebKeySet>, now: () => number) {
    this.#read = read;
    this.#now = now;
  }

  async require(): Promise<void> {
    if (this.#now() - this.#readAt > KEY_SET_MAX_AGE_MS) await this.#refresh();
    if (!this.#keys) throw new ApiError('identity_unavailable', undefined, { cause: this.#failure });
  }

  async find(...asked: Parameters<JWTVerifyGetKey>): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> {
    if (this.#now() - this.#readAt > KEY_SET_MAX_AGE_MS) await this.#refresh();
    try {
      return await this.#lookUp(...asked);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#refresh())) throw error;
      return this.#lookUp(...asked);
    }
  }

  #lookUp(...asked: Parameters<JWTVerifyGetKey>): ReturnType<JWTVerifyGetKey> {
    if (!this.#keys) throw new ApiError('identity_unavailable', undefined, { cause: this.#failure });
    return this.#keys(...asked);
  }

  /** False without a read: the last one was too recent. Concurrent callers share one. */
  async #refresh(): Promise<boolean> {
    if (this.#reading) {
      await this.#reading;
      return true;
    }
    if (this.#now() - this.#triedAt < KEY_SET_COOLDOWN_MS) return false;
    this.#triedAt = this.#now();
    this.#reading = this.#load().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
    return true;
  }

  async #load(): Promise<void> {
    try {
      this.#keys = createLocalJWKSet(await this.#read());
      this.#readAt = this.#now();
    } catch (error) {
      this.#failure = error;
    }
  }
}

async function readKeySet(url: string, guard: AddressGuard): Promise<JSONWebKeySet> {
  const answer = await outboundRequest(url, {
    guard,
    timeoutMs: KEY_SET_TIMEOUT_MS,
    maxBodyBytes: KEY_SET_BYTES,
    headers: { accept: 'application/jwk-set+json, application/json' },
  });
  if (answer.status !== 200) throw new Error(`The key set answered with status ${answer.status}`);
  return JSON.parse(Buffer.from(answer.body).toString('utf8')) as JSONWebKeySet;
}

const isUnbound = ({ environment, jwt_issuer, jwt_audience }: EnvironmentRow): boolean =>
  environment === 'production' && (jwt_issuer === null || jwt_audience === null);

const invalid = (why: string) => new ApiError('invalid_token', `The bearer token is not valid: ${why}`);

/** Faults of the token are 401; faults of the key set are ours. Claims are read after the signature was verified. */
function refusal(error: unknown): ApiError {
  if (error instanceof errors.JWTExpired) return new UnguessedTokenError('it has expired.');
  if (error instanceof errors.JWTClaimValidationFailed)
    return new UnguessedTokenError(`its claim "${error.claim}" is missing or wrong.`);
  if (error instanceof errors.JWKSNoMatchingKey) return invalid('no key of the key set fits it.');
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return invalid('its header does not say which key (kid) it uses.');
  if (error instanceof errors.JOSEAlgNotAllowed)
    return invalid(`its algorithm is not one of ${ALGORITHMS.join(', ')}.`);
  if (error instanceof errors.JWSSignatureVerificationFailed) return invalid('its signature does not verify.');
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return invalid('it is malformed.');
  if (error instanceof errors.JOSENotSupported) return invalid('it uses something that is not supported.');
  return new ApiError('identity_unavailable', undefined, { cause: error });
}

/** Tells these tokens from an organisation's own: neither is ever checked with the keys of the other. */
const PREFIX = 'rut_';
const LIFETIME_SECONDS = 900;
const ISSUER = 'svc';
const ALGORITHM = 'HS256';
const KEY_BYTES = 32;

interface RecipientIdentity {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly externalUserId: string;
  readonly walletAddress: StarknetAddress;
}

export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: Date;
}

export const isRecipientToken = (token: string): boolean => token.startsWith(PREFIX);

const audienceOf = (organizationId: string, environment: Environment) => `${organizationId} ${environment}`;

/** Tokens of the service itself for one wallet of one organisation and environment. */
export class RecipientTokens {
  readonly #key: Uint8Array;
  readonly #now: () => number;

  /** Every process derives the same key from the secret of the deployment. It is never stored or sent. */
  constructor(deploymentKey: Uint8Array, now: () => number = Date.now) {
    this.#key = new Uint8Array(hkdfSync('sha256', deploymentKey, '', 'svc recipient tokens', KEY_BYTES));
    this.#now = now;
  }

  async issue({ organizationId, environment, externalUserId, walletAddress }: RecipientIdentity): Promise<IssuedToken> {
    const issuedAt = Math.floor(this.#now() / 1_000);
    const expires = issuedAt + LIFETIME_SECONDS;
    const token = await new SignJWT({ wallet: walletAddress })
      .setProtectedHeader({ alg: ALGORITHM })
      .setIssuer(ISSUER)
      .setAudience(audienceOf(organizationId, environment))
      .setSubject(externalUserId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expires)
      .sign(this.#key);
    return { token: PREFIX + token, expiresAt: new Date(expires * 1_000) };
  }

  /** Throws `invalid_token`, also for a token of another organisation or environment. */
  async read(token: string, { organization_id, environment }: EnvironmentRow): Promise<RecipientIdentity> {
    const { payload } = await jwtVerify(token.slice(PREFIX.length), this.#key, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: audienceOf(organization_id, environment),
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(this.#now()),
      requiredClaims: ['exp', 'sub'],
    }).catch((error: unknown) => {
      if (error instanceof errors.JWTExpired) throw new UnguessedTokenError('it has expired. Sign in again.');
      if (error instanceof errors.JWTClaimValidationFailed) {
        throw new UnguessedTokenError('it belongs to another organisation or environment.');
      }
      throw new ApiError('invalid_token', undefined, { cause: error });
    });
    return {
      organizationId: organization_id,
      environment,
      externalUserId: String(payload.sub),
      walletAddress: payload.wallet as StarknetAddress,
    };
  }
}
