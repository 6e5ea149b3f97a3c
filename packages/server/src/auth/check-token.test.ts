import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TokenStepName } from '@svc/protocol';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EnvironmentRow } from '../organizations/organization-store.ts';
import { publicOnly } from '../outbound/address-guard.ts';
import { checkToken } from './check-token.ts';
import { UserTokens } from './user-tokens.ts';

let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let server: Server;
let origin: string;
beforeAll(async () => {
  keys = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(keys.publicKey)), alg: 'ES256', kid: 'one' };
  server = createServer((request, response) => {
    response.writeHead(request.url === '/jwks' ? 200 : 404).end(JSON.stringify({ keys: [key] }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const NOW = new Date('2026-11-17T12:00:00Z');
const seconds = NOW.getTime() / 1_000;
const good = { sub: 'user-1', exp: seconds + 60, iss: 'https://id.example', aud: ['app', 'svc'] };

const sign = (claims: JWTPayload, header: object = {}) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(keys.privateKey);

const settings = (change: Partial<EnvironmentRow> = {}): EnvironmentRow => ({
  organization_id: 'org_1',
  environment: 'development',
  jwks_url: `${origin}/jwks`,
  jwt_issuer: 'https://id.example',
  jwt_audience: 'svc',
  jwt_user_claim: 'sub',
  gifts_need_secret_key: false,
  notification_email: null,
  public_key_gifts_daily_micros: null,
  recipient_wallets: true,
  recipient_app_url: null,
  ...change,
});

function check(token: string, change: Partial<EnvironmentRow> = {}) {
  const guard = () => publicOnly({ allowLoopback: true });
  const tokens = new UserTokens({ guard, sandboxKeySet: undefined, now: () => NOW });
  return checkToken(tokens, token, settings(change), NOW);
}

describe('the check of a token', () => {
  it('says whose it is, with every step', async () => {
    const checked = await check(`Bearer ${await sign(good)}`);
    expect(checked).toMatchObject({ valid: true, externalUserId: 'user-1' });
    expect(checked.steps.map(({ step, result }) => [step, result])).toEqual([
      ['format', 'passed'],
      ['algorithm', 'passed'],
      ['key set', 'passed'],
      ['key', 'passed'],
      ['signature', 'passed'],
      ['expiry', 'passed'],
      ['not before', 'skipped'],
      ['issuer', 'passed'],
      ['audience', 'passed'],
      ['user claim', 'passed'],
    ]);
  });

  const faults: [string, () => Promise<string> | string, TokenStepName, RegExp, Partial<EnvironmentRow>?][] = [
    ['a secret key', () => 'sk_dev_abc', 'format', /API key/],
    ['no token', () => 'abc', 'format', /three parts/],
    ['no JSON', () => 'a.b.c', 'format', /not JSON/],
    ['a long one', () => `${'a'.repeat(7_000)}.b.c`, 'format', /6144/],
    ['HS256', () => 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln', 'algorithm', /HS256 is not one of/],
    ['no key set', () => sign(good), 'key set', /no key set/, { jwks_url: null }],
    ['an unknown key', () => sign(good, { kid: 'two' }), 'key', /kid two/],
    ['another key of the same name', () => other(good), 'signature', /not made with that key/],
    ['an expired one', () => sign({ ...good, exp: seconds - 60 }), 'expiry', /expired at 2026-11-17T11:59/],
    ['one that never ends', () => sign({ sub: 'user-1' }), 'expiry', /exp is missing/],
    ['one of tomorrow', () => sign({ ...good, nbf: seconds + 3_600 }), 'not before', /from 2026-11-17T13:00/],
    [
      'another issuer',
      () => sign({ ...good, iss: 'https://else.example' }),
      'issuer',
      /else\.example; the settings want/,
    ],
    ['another audience', () => sign({ ...good, aud: 'app' }), 'audience', /aud is app; the settings want svc/],
    ['no user', () => sign({ ...good, sub: '' }), 'user claim', /"sub" is not a user identifier/],
  ];
  it.each(faults)('of %s fails at the step that is wrong, and says why', async (_, token, step, why, change) => {
    const { valid, externalUserId, steps } = await check(await token(), change);
    expect({ valid, externalUserId }).toEqual({ valid: false, externalUserId: null });
    const failed = steps.filter(({ result }) => result === 'failed');
    expect(failed).toMatchObject([{ step, detail: expect.stringMatching(why) }]);
    const after = steps.slice(steps.findIndex(({ result }) => result === 'failed') + 1);
    expect(after.every(({ result }) => result === 'skipped')).toBe(true);
  });

  it('tells why a key set cannot be read', async () => {
    const { steps } = await check(await sign(good), { jwks_url: `${origin}/nothing` });
    expect(steps[2]).toEqual({
      step: 'key set',
      result: 'failed',
      detail: 'The key set could not be read: The key set answered with status 404.',
    });
  });
});

async function other(claims: JWTPayload): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256');
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey);
}
