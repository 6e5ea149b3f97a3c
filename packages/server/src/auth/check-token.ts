import { ApiError, type CheckedToken, type TokenStepName } from '@svc/protocol';
import {
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type FlattenedJWSInput,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from 'jose';
import type { EnvironmentRow } from '../organizations/organization-store.ts';
import { errorText } from '../util/text.ts';
import { MAX_TOKEN_LENGTH } from './authenticate.ts';
import { ALGORITHMS, CLOCK_TOLERANCE_SECONDS, type UserTokens } from './user-tokens.ts';

/** Stops at the first step that fails. */
class Refused extends Error {}

type Check = () => Promise<string | Skipped> | string | Skipped;

interface Skipped {
  readonly skipped: string;
}

const skipped = (why: string): Skipped => ({ skipped: why });
const refuse = (why: string): never => {
  throw new Refused(why);
};

/** What the service does with a user's token, step by step and in words. */
export async function checkToken(
  tokens: UserTokens,
  text: string,
  settings: EnvironmentRow,
  now: Date = new Date(),
): Promise<CheckedToken> {
  const token = text.trim().replace(/^Bearer\s+/i, '');
  let header: ProtectedHeaderParameters = {};
  let claims: JWTPayload = {};
  let key: Awaited<ReturnType<UserTokens['findKey']>> | undefined;
  let externalUserId: string | undefined;
  const checks: readonly (readonly [TokenStepName, Check])[] = [
    [
      'format',
      () => {
        if (token.length > MAX_TOKEN_LENGTH) refuse(`It has more than ${MAX_TOKEN_LENGTH} characters.`);
        [header, claims] = decode(token);
        return `Header: alg ${shown(header.alg)}, kid ${shown(header.kid)}.`;
      },
    ],
    [
      'algorithm',
      () => {
        const { alg = 'none' } = header;
        return ALGORITHMS.includes(alg) ? alg : refuse(`${alg} is not one of ${ALGORITHMS.join(', ')}.`);
      },
    ],
    [
      'key set',
      async () => {
        await tokens.loadKeySet(settings).catch((error: unknown) => refuse(keySetFault(error)));
        return settings.jwks_url === 'sandbox'
          ? 'The development identity provider.'
          : `Read from ${settings.jwks_url}.`;
      },
    ],
    [
      'key',
      async () => {
        key = await tokens
          .findKey(settings, { ...header, alg: header.alg ?? 'none' }, partsOf(token))
          .catch((error: unknown) => refuse(keyFault(error, header)));
        return header.kid === undefined ? 'One key of the set fits.' : `The set has the key ${shown(header.kid)}.`;
      },
    ],
    [
      'signature',
      async () => {
        if (!key) return refuse('There is no key to verify it with.');
        await compactVerify(token, key, { algorithms: ALGORITHMS }).catch(() =>
          refuse('It was not made with that key, or the token was changed afterwards.'),
        );
        return 'It verifies.';
      },
    ],
    ['expiry', () => checkExpiry(claims, now)],
    ['not before', () => checkStart(claims, now)],
    ['issuer', () => checkIssuer(claims, settings)],
    ['audience', () => checkAudience(claims, settings)],
    [
      'user claim',
      async () => {
        // The verdict is that of the service itself.
        externalUserId = await tokens
          .externalUserId(token, settings)
          .catch((error: unknown) => refuse(errorText(error)));
        return `${settings.jwt_user_claim} is the externalUserId.`;
      },
    ],
  ];
  const steps = await run(checks);
  return { valid: externalUserId !== undefined, externalUserId: externalUserId ?? null, steps };
}

async function run(checks: readonly (readonly [TokenStepName, Check])[]): Promise<CheckedToken['steps']> {
  const steps: CheckedToken['steps'] = [];
  let failed = false;
  for (const [step, check] of checks) {
    if (failed) {
      steps.push({ step, result: 'skipped', detail: 'Not reached.' });
      continue;
    }
    try {
      const found = await check();
      if (typeof found === 'string') steps.push({ step, result: 'passed', detail: found });
      else steps.push({ step, result: 'skipped', detail: found.skipped });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      failed = true;
      steps.push({ step, result: 'failed', detail: error.message });
    }
  }
  return steps;
}

function decode(token: string): [ProtectedHeaderParameters, JWTPayload] {
  if (/^(sk|pk)_/.test(token)) refuse('This is an API key, not a token of a user.');
  if (token.split('.').length !== 3) refuse('A signed token has three parts, separated by dots.');
  try {
    return [decodeProtectedHeader(token), decodeJwt(token)];
  } catch {
    return refuse('Its parts are not JSON in base64url.');
  }
}

function partsOf(token: string): FlattenedJWSInput {
  const [head = '', payload = '', signature = ''] = token.split('.');
  return { protected: head, payload, signature };
}

function keySetFault(error: unknown): string {
  if (!(error instanceof ApiError)) throw error;
  const { cause } = error;
  return cause === undefined ? error.message : `The key set could not be read: ${errorText(cause)}.`;
}

function keyFault(error: unknown, { kid, alg }: ProtectedHeaderParameters): string {
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return 'The header has no kid, and several keys of the set fit.';
  if (error instanceof errors.JWKSNoMatchingKey) return `No key of the set has kid ${shown(kid)} and fits ${alg}.`;
  return `The key cannot be used: ${errorText(error)}.`;
}

const seconds = (now: Date) => Math.floor(now.getTime() / 1_000);
const time = (value: number) => {
  const date = new Date(value * 1_000);
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString();
};

function checkExpiry({ exp }: JWTPayload, now: Date): string {
  if (typeof exp !== 'number') return refuse('The claim exp is missing; every token needs one.');
  if (exp <= seconds(now) - CLOCK_TOLERANCE_SECONDS)
    refuse(`It expired at ${time(exp)}; it is ${now.toISOString()} now.`);
  return `It expires at ${time(exp)}.`;
}

function checkStart({ nbf, iat }: JWTPayload, now: Date): string | Skipped {
  const latest = seconds(now) + CLOCK_TOLERANCE_SECONDS;
  if (typeof nbf === 'number' && nbf > latest)
    refuse(`It is valid from ${time(nbf)} on; it is ${now.toISOString()} now.`);
  if (typeof iat === 'number' && iat > latest) refuse(`It was issued at ${time(iat)}, which is in the future.`);
  return nbf === undefined && iat === undefined ? skipped('It has neither nbf nor iat.') : 'It is valid already.';
}

function checkIssuer({ iss }: JWTPayload, { jwt_issuer: wanted }: EnvironmentRow): string | Skipped {
  if (wanted === null) return skipped(`No issuer is set. The token has iss ${shown(iss)}.`);
  return iss === wanted ? `iss is ${wanted}.` : refuse(`iss is ${shown(iss)}; the settings want ${wanted}.`);
}

function checkAudience({ aud }: JWTPayload, { jwt_audience: wanted }: EnvironmentRow): string | Skipped {
  if (wanted === null) return skipped(`No audience is set. The token has aud ${shown(aud)}.`);
  const all = [aud].flat();
  return all.includes(wanted) ? `aud has ${wanted}.` : refuse(`aud is ${shown(aud)}; the settings want ${wanted}.`);
}

const MAX_SHOWN = 200;

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
