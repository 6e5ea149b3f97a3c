import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EnvironmentRow } from '../organizations/organization-store.ts';
import { publicOnly } from '../outbound/address-guard.ts';
import { UnguessedTokenError, UserTokens } from './user-tokens.ts';

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'];
const keys = new Map<string, KeyPair>();
let server: Server;
let url: string;
let answer: () => { status: number; body: string };
let reads = 0;

beforeAll(async () => {
  for (const alg of [...ALGORITHMS, 'ES512']) keys.set(alg, await generateKeyPair(alg, { extractable: true }));
  const published = await Promise.all(
    [...keys].map(async ([alg, { publicKey }]) => ({ ...(await exportJWK(publicKey)), alg, kid: alg })),
  );
  answer = () => ({ status: 200, body: JSON.stringify({ keys: published }) });
  server = createServer((_, response) => {
    reads++;
    const { status, body } = answer();
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
});
afterAll(() => server.close());

const now = () => Math.floor(Date.now() / 1000);
const tokens = () => new UserTokens({ guard: () => publicOnly({ allowLoopback: true }), sandboxKeySet: undefined });
const settings = (change: Partial<EnvironmentRow> = {}): EnvironmentRow => ({
  organization_id: 'org_1',
  environment: 'development',
  jwks_url: url,
  jwt_issuer: null,
  jwt_audience: null,
  jwt_user_claim: 'sub',
  gifts_need_secret_key: false,
  notification_email: null,
  public_key_gifts_daily_micros: null,
  recipient_wallets: true,
  recipient_app_url: null,
  ...change,
});

function sign(alg: string, claims: JWTPayload, header: Record<string, unknown> = {}): Promise<string> {
  const key = keys.get(alg)?.privateKey;
  if (!key) throw new Error(`no key for ${alg}`);
  return new SignJWT(claims).setProtectedHeader({ alg, kid: alg, ...header }).sign(key);
}
const good = () => ({ sub: 'user-1', exp: now() + 60 });

describe('a user token', () => {
  it.each(ALGORITHMS)('signed with %s speaks for its subject', async (alg) => {
    expect(await tokens().externalUserId(await sign(alg, good()), settings())).toBe('user-1');
  });

  it('may carry the user in another claim, where the organisation says so', async () => {
    const token = await sign('ES256', { ...good(), email: 'ana@example.mx' });
    expect(await tokens().externalUserId(token, settings({ jwt_user_claim: 'email' }))).toBe('ana@example.mx');
  });

  it('tolerates five seconds of clock difference and no more', async () => {
    const justExpired = await sign('ES256', { sub: 'user-1', exp: now() - 3 });
    expect(await tokens().externalUserId(justExpired, settings())).toBe('user-1');
    const expired = await sign('ES256', { sub: 'user-1', exp: now() - 10 });
    await expect(tokens().externalUserId(expired, settings())).rejects.toMatchObject({ status: 401 });
  });

  const wrong: [string, () => Promise<string> | string, Partial<EnvironmentRow>?][] = [
    ['without exp', () => sign('ES256', { sub: 'user-1' })],
    ['not valid yet', () => sign('ES256', { ...good(), nbf: now() + 60 })],
    ['issued in the future', () => sign('ES256', { ...good(), iat: now() + 60 })],
    ['from another issuer', () => sign('ES256', { ...good(), iss: 'other' }), { jwt_issuer: 'https://id.example' }],
    ['without the issuer', () => sign('ES256', good()), { jwt_issuer: 'https://id.example' }],
    ['for another audience', () => sign('ES256', { ...good(), aud: 'other' }), { jwt_audience: 'svc' }],
    ['without a subject', () => sign('ES256', { exp: now() + 60 })],
    ['with a subject that is no text', () => sign('ES256', { exp: now() + 60, sub: 7 } as unknown as JWTPayload)],
    ['with an empty subject', () => sign('ES256', { exp: now() + 60, sub: '' })],
    ['with a NUL in its subject', () => sign('ES256', { exp: now() + 60, sub: 'a\0' })],
    ['with an unknown key id', () => sign('ES256', good(), { kid: 'nobody' })],
    ['with an algorithm that is not on the list', () => sign('ES512', good())],
    ['that is no token at all', () => 'abc'],
    ['with an altered body', async () => alter(await sign('ES256', good()))],
    ['without signature and alg none', () => unsigned('none', '')],
    ['with HS256 under the public key', async () => hmacWithPublicKey()],
    ['of an organisation without a key set', () => sign('ES256', good()), { jwks_url: null }],
    ['of the sandbox for production', () => sign('ES256', good()), { jwks_url: 'sandbox', environment: 'production' }],
    ['for the sandbox when that is off', () => sign('ES256', good()), { jwks_url: 'sandbox' }],
  ];
  it.each(wrong)('%s is refused with 401', async (_, make, change) => {
    await expect(tokens().externalUserId(await make(), settings(change))).rejects.toMatchObject({
      status: 401,
      code: 'invalid_token',
    });
  });

  it('with a right signature is no guess, whatever else is wrong with it', async () => {
    const isGuess = async (token: Promise<string>) => {
      const error: unknown = await tokens()
        .externalUserId(await token, settings({ jwt_audience: 'svc' }))
        .catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: 'invalid_token' });
      return !(error instanceof UnguessedTokenError);
    };
    expect(await isGuess(sign('ES256', { sub: 'user-1', aud: 'svc', exp: now() - 60 }))).toBe(false);
    expect(await isGuess(sign('ES256', { ...good(), aud: 'other' }))).toBe(false);
    expect(await isGuess(sign('ES256', { aud: 'svc', exp: now() + 60 }))).toBe(false);
    expect(await isGuess(sign('ES256', { ...good(), exp: now() - 60 }).then(alter))).toBe(true);
    expect(await isGuess(sign('ES256', { ...good(), exp: now() - 60 }, { kid: 'nobody' }))).toBe(true);
  });

  it.each([
    ['without an issuer', { jwt_audience: 'svc' }],
    ['without an audience', { jwt_issuer: 'https://id.example' }],
  ])(
    'of production is refused where the settings are %s, except until the day that the operator set',
    async (_, set) => {
      const production = settings({ environment: 'production', ...set });
      const token = await sign('ES256', { ...good(), iss: 'https://id.example', aud: 'svc' });
      const until = (unboundUntil: Date) =>
        new UserTokens({ guard: () => publicOnly({ allowLoopback: true }), sandboxKeySet: undefined, unboundUntil });
      for (const users of [tokens(), until(new Date(Date.now() - 1_000))]) {
        await expect(users.externalUserId(token, production)).rejects.toMatchObject({
          code: 'invalid_token',
          message: expect.stringContaining('jwtIssuer and jwtAudience'),
        });
      }
      expect(await until(new Date(Date.now() + 60_000)).externalUserId(token, production)).toBe('user-1');
      const bound = { ...production, jwt_issuer: 'https://id.example', jwt_audience: 'svc' };
      expect(await tokens().externalUserId(token, bound)).toBe('user-1');
    },
  );

  it('ignores the key that it brings along itself', async () => {
    const attacker = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(attacker.publicKey);
    for (const header of [{ jwk }, { jku: url }, { x5u: url }]) {
      const forged = await new SignJWT(good())
        .setProtectedHeader({ alg: 'ES256', kid: 'ES256', ...header })
        .sign(attacker.privateKey);
      await expect(tokens().externalUserId(forged, settings())).rejects.toMatchObject({ status: 401 });
    }
  });

  it('is not refused as invalid when the key set cannot be read', async () => {
    const working = answer;
    answer = () => ({ status: 503, body: 'down' });
    await expect(tokens().externalUserId(await sign('ES256', good()), settings())).rejects.toMatchObject({
      status: 500,
      code: 'identity_unavailable',
    });
    answer = () => ({ status: 200, body: '<html>' });
    await expect(tokens().externalUserId(await sign('ES256', good()), settings())).rejects.toMatchObject({
      code: 'identity_unavailable',
    });
    answer = working;
  });

  it('does not cause repeated requests to an identity provider that is down', async () => {
    const working = answer;
    answer = () => ({ status: 503, body: 'down' });
    const patient = tokens();
    const before = reads;
    for (let i = 0; i < 5; i++) {
      const attempt = patient.externalUserId(await sign('ES256', good()), settings());
      await expect(attempt).rejects.toMatchObject({ code: 'identity_unavailable' });
    }
    answer = working;
    expect(reads - before).toBe(1);
  });

  it('of a known key goes on working while the identity provider is down, however long', async () => {
    const working = answer;
    let hours = 0;
    const clock = () => new Date(Date.now() + hours * 3_600_000);
    const users = new UserTokens({
      guard: () => publicOnly({ allowLoopback: true }),
      sandboxKeySet: undefined,
      now: clock,
    });
    const token = await sign('ES256', { sub: 'user-1', exp: now() + 100_000 });
    expect(await users.externalUserId(token, settings())).toBe('user-1');
    answer = () => ({ status: 503, body: 'down' });
    hours = 5;
    expect(await users.externalUserId(token, settings())).toBe('user-1');
    answer = working;
  });

  it('with an unknown key id causes at most one read per 30 seconds, also while reads fail', async () => {
    const working = answer;
    let seconds = 0;
    const clock = () => new Date(Date.now() + seconds * 1_000);
    const users = new UserTokens({
      guard: () => publicOnly({ allowLoopback: true }),
      sandboxKeySet: undefined,
      now: clock,
    });
    const unknown = await sign('ES256', { sub: 'user-1', exp: now() + 1_000 }, { kid: 'nobody' });
    const attempt = () => users.externalUserId(unknown, settings()).catch(() => {});
    await users.externalUserId(await sign('ES256', good()), settings());
    const before = reads;
    answer = () => ({ status: 503, body: 'down' });
    for (seconds = 0; seconds < 90; seconds += 3) await attempt();
    answer = working;
    expect(reads - before).toBe(2);
  });

  it('never makes us connect to a private address', async () => {
    const before = reads;
    const guarded = new UserTokens({ guard: () => publicOnly(), sandboxKeySet: undefined });
    await expect(guarded.externalUserId(await sign('ES256', good()), settings())).rejects.toMatchObject({
      code: 'identity_unavailable',
    });
    expect(reads).toBe(before);
  });

  it('with an unknown key id does not cause repeated reads of the key set', async () => {
    const patient = tokens();
    const token = await sign('ES256', good(), { kid: 'nobody' });
    const before = reads;
    for (let i = 0; i < 5; i++) await patient.externalUserId(token, settings()).catch(() => {});
    expect(reads - before).toBeLessThanOrEqual(2);
  });
});

function alter(token: string): string {
  const [header, , signature] = token.split('.');
  const body = Buffer.from(JSON.stringify({ ...good(), sub: 'user-2' })).toString('base64url');
  return `${header}.${body}.${signature}`;
}

function unsigned(alg: string, signature: string): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${encode({ alg, typ: 'JWT' })}.${encode(good())}.${signature}`;
}

async function hmacWithPublicKey(): Promise<string> {
  const publicKey = keys.get('RS256')?.publicKey;
  if (!publicKey) throw new Error('no key');
  const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(publicKey)));
  return new SignJWT(good()).setProtectedHeader({ alg: 'HS256', kid: 'RS256' }).sign(secret);
}
