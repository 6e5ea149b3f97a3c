import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Access } from '@svc/protocol';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import type { Keys } from './app.ts';

export interface KeySet {
  readonly url: string;
  readonly publicJwk: JWK;
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

const ALGORITHM = 'ES256';
const KID = 'key-1';

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** An identity provider on this machine. */
export async function startKeySet(): Promise<KeySet> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), alg: ALGORITHM, kid: KID };
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [publicJwk] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    publicJwk,
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, kid: KID, ...header }).sign(privateKey),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token with any header and signature, which a library would refuse to make. */
export function assembleToken(header: unknown, claims: unknown, signature = ''): string {
  return `${encode(header)}.${encode(claims)}.${signature}`;
}

/** Our credentials, and those that must not work with ours. */
export interface CredentialSet {
  readonly ours: Keys;
  readonly ourProduction: Keys;
  readonly theirs: Keys;
  /** Pairs of ours with one revoked key. */
  readonly revokedPublic: Keys;
  readonly revokedSecret: Keys;
  readonly ourKeySet: KeySet;
  readonly theirKeySet: KeySet;
  /** Claims that our key set's organisation accepts. */
  readonly claims: () => Record<string, unknown>;
}

export interface WrongCredential {
  readonly name: string;
  readonly headers: Record<string, string>;
  /** Default: every access that needs credentials. */
  readonly wrongFor?: readonly Access[];
}

const LONG = 8_192;
const HOUR = 3_600;

export async function wrongCredentials(credentials: CredentialSet): Promise<WrongCredential[]> {
  return [...absent(credentials), ...malformed(credentials), ...misplaced(credentials), ...(await tokens(credentials))];
}

function absent({ ours }: CredentialSet): WrongCredential[] {
  const { 'x-api-key': publicKey, authorization } = ours.headers;
  return [
    { name: 'no header at all', headers: {} },
    { name: 'no Authorization', headers: { 'x-api-key': publicKey }, wrongFor: ['both', 'secret'] },
    { name: 'no x-api-key', headers: { authorization }, wrongFor: ['both', 'secret', 'public'] },
    { name: 'both headers empty', headers: { 'x-api-key': '', authorization: '' } },
    { name: 'an empty x-api-key', headers: { ...ours.headers, 'x-api-key': '' } },
    { name: 'an empty Authorization', headers: { ...ours.headers, authorization: '' } },
    { name: 'keys in other headers', headers: { 'api-key': publicKey, 'x-secret-key': ours.secretKey } },
  ];
}

function malformed({ ours }: CredentialSet): WrongCredential[] {
  const { publicKey, secretKey } = ours;
  const bearers = {
    'the scheme alone': 'Bearer',
    'the scheme and a blank': 'Bearer ',
    'no scheme': secretKey,
    'the scheme Basic': `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`,
    'the scheme Token': `Token ${secretKey}`,
    'two blanks': `Bearer  ${secretKey}`,
    'two keys': `Bearer ${secretKey} ${secretKey}`,
    'a shortened key': `Bearer ${secretKey.slice(0, -1)}`,
    'a lengthened key': `Bearer ${secretKey}A`,
    'a key in capitals': `Bearer ${secretKey.toUpperCase()}`,
    'a key of no known environment': `Bearer ${secretKey.replace('dev', 'test')}`,
    'a quoted key': `Bearer "${secretKey}"`,
    'not a key': 'Bearer null',
    'letters beyond ASCII': 'Bearer ñandú',
    SQL: `Bearer sk_dev_'or'1'='1`,
    '8 kB of garbage': `Bearer ${'x9-'.repeat(LONG).slice(0, LONG)}`,
    '8 kB of a key': `Bearer ${secretKey.padEnd(LONG, 'A')}`,
    '8 kB without a scheme': 'A'.repeat(LONG),
  };
  const publicKeys = {
    'a shortened key': publicKey.slice(0, -1),
    'a lengthened key': `${publicKey}A`,
    'two keys': `${publicKey}, ${publicKey}`,
    'a scheme': `Bearer ${publicKey}`,
    'not a key': 'undefined',
    SQL: `pk_dev_' or '1'='1`,
    '8 kB of garbage': '<>'.repeat(LONG / 2),
    '8 kB of a key': publicKey.padEnd(LONG, 'A'),
  };
  return [
    ...Object.entries(bearers).map(([name, authorization]) => ({
      name: `an Authorization with ${name}`,
      headers: { ...ours.headers, authorization },
    })),
    ...Object.entries(publicKeys).map(([name, key]) => ({
      name: `an x-api-key with ${name}`,
      headers: { ...ours.headers, 'x-api-key': key },
    })),
  ];
}

function misplaced(credentials: CredentialSet): WrongCredential[] {
  const { ours, ourProduction, theirs, revokedPublic, revokedSecret } = credentials;
  const pair = (publicKey: string, secretKey: string) => ({
    'x-api-key': publicKey,
    authorization: `Bearer ${secretKey}`,
  });
  const unknown = 'Q'.repeat(36);
  return [
    { name: 'the secret key as public key', headers: { ...ours.headers, 'x-api-key': ours.secretKey } },
    { name: 'the public key as secret key', headers: pair(ours.publicKey, ours.publicKey) },
    { name: 'the two keys exchanged', headers: pair(ours.secretKey, ours.publicKey) },
    { name: 'an unknown public key', headers: pair(`pk_dev_${unknown}`, ours.secretKey) },
    { name: 'an unknown secret key', headers: pair(ours.publicKey, `sk_dev_${unknown}`) },
    { name: "another organisation's secret key", headers: pair(ours.publicKey, theirs.secretKey) },
    { name: "another organisation's public key", headers: pair(theirs.publicKey, ours.secretKey) },
    { name: "the other environment's secret key", headers: pair(ours.publicKey, ourProduction.secretKey) },
    { name: "the other environment's public key", headers: pair(ourProduction.publicKey, ours.secretKey) },
    { name: 'a revoked public key', headers: revokedPublic.headers },
    { name: 'a revoked secret key', headers: revokedSecret.headers },
    { name: 'a revoked public key alone', headers: { 'x-api-key': revokedPublic.publicKey } },
    { name: 'a revoked secret key alone', headers: { authorization: revokedSecret.headers.authorization } },
  ];
}

/** Signed with public values, which faulty libraries take for a shared secret. */
async function hmacTokens({ ourKeySet, ours, claims }: CredentialSet): Promise<Record<string, string>> {
  const secrets = {
    JWK: JSON.stringify(ourKeySet.publicJwk),
    coordinate: ourKeySet.publicJwk.x ?? '',
    key: ours.publicKey,
  };
  const signed = await Promise.all(
    Object.entries(secrets).map(async ([name, secret]) => {
      const header = { alg: 'HS256', kid: ourKeySet.publicJwk.kid ?? '' };
      const token = await new SignJWT(claims())
        .setProtectedHeader(header)
        .sign(new TextEncoder().encode(secret.padEnd(32)));
      return [`signed with HS256 and the public ${name}`, token] as const;
    }),
  );
  return Object.fromEntries(signed);
}

async function tokens(credentials: CredentialSet): Promise<WrongCredential[]> {
  const { ours, ourProduction, ourKeySet, theirKeySet, claims } = credentials;
  const now = nowSeconds();
  const { sign } = ourKeySet;
  const good = await sign(claims());
  const [header = '', payload = '', signature = ''] = good.split('.');
  const without = (name: string) => Object.fromEntries(Object.entries(claims()).filter(([key]) => key !== name));
  const wrong: Record<string, string> = {
    'without signature and alg none': assembleToken({ alg: 'none' }, claims()),
    'with alg none and an old signature': assembleToken({ alg: 'none' }, claims(), signature),
    'with alg None': assembleToken({ alg: 'None', kid: 'key-1' }, claims()),
    ...(await hmacTokens(credentials)),
    'of another issuer': await sign({ ...claims(), iss: 'https://evil.example' }),
    'without issuer': await sign(without('iss')),
    'for another audience': await sign({ ...claims(), aud: 'another' }),
    'without audience': await sign(without('aud')),
    'that has expired': await sign({ ...claims(), exp: now - HOUR }),
    'that never expires': await sign(without('exp')),
    'that is not valid yet': await sign({ ...claims(), nbf: now + HOUR }),
    'from the future': await sign({ ...claims(), iat: now + HOUR }),
    'without a subject': await sign(without('sub')),
    'with an unknown kid': await sign(claims(), { kid: 'nobody' }),
    'of another key set': await theirKeySet.sign(claims()),
    'of another key set that it brings along': await theirKeySet.sign(claims(), { jwk: theirKeySet.publicJwk }),
    'of another key set that it points to': await theirKeySet.sign(claims(), { jku: theirKeySet.url }),
    'with an altered body': `${header}.${Buffer.from(JSON.stringify({ ...claims(), sub: 'other' })).toString('base64url')}.${signature}`,
    'with an altered signature': `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
    'without a third part': `${header}.${payload}`,
    'of three dots': '...',
    'of 8 kB': await sign({ ...claims(), padding: 'x'.repeat(LONG) }),
  };
  const bearer = (token: string, publicKey = ours.publicKey) => ({
    'x-api-key': publicKey,
    authorization: `Bearer ${token}`,
  });
  return [
    ...Object.entries(wrong).map(([name, token]) => ({ name: `a token ${name}`, headers: bearer(token) })),
    { name: "a token with the other environment's key", headers: bearer(good, ourProduction.publicKey) },
    { name: "a token with another organisation's key", headers: bearer(good, credentials.theirs.publicKey) },
    { name: 'a token alone', headers: { authorization: `Bearer ${good}` } },
    { name: 'a good token where only keys count', headers: bearer(good), wrongFor: ['secret', 'either'] },
  ];
}
