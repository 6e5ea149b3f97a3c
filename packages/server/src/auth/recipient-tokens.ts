import { hkdfSync } from 'node:crypto';
import { ApiError, type Environment, type StarknetAddress } from '@svc/protocol';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { EnvironmentRow } from '../organizations/organization-store.ts';
import { CLOCK_TOLERANCE_SECONDS, UnguessedTokenError } from './user-tokens.ts';

/** Tells these tokens from an organisation's own: neither is ever checked with the keys of the other. */
const PREFIX = 'rut_';
const LIFETIME_SECONDS = 900;
const ISSUER = 'svc';
const ALGORITHM = 'HS256';
const KEY_BYTES = 32;

export interface RecipientIdentity {
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
