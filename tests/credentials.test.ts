import type { Endpoint } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Keys, Organization } from './support/app.ts';
import { faultOfError } from './support/assertions.ts';
import { isAdmitted, type Reply, send, userToken } from './support/client.ts';
import {
  type CredentialSet,
  type KeySet,
  nowSeconds,
  startKeySet,
  type WrongCredential,
  wrongCredentials,
} from './support/credentials.ts';
import {
  type ExampleData,
  exampleOf,
  keyedEndpoints,
  prepareExampleData,
  sendExample,
  successOf,
} from './support/examples.ts';
import { signIn } from './support/members.ts';
import { type AnyService, TestService } from './support/service.ts';

let service: AnyService;
let baseUrl: string;
let credentials: CredentialSet;
let data: ExampleData;
let ours: Organization;
const keySets: KeySet[] = [];
const ISSUER = 'https://id.tienda.example';
const AUDIENCE = 'tienda';
const USER = 'ana';

beforeAll(async () => {
  service = await TestService.shared();
  baseUrl = service.server.credentials.baseUrl;
  const [ourKeySet, theirKeySet] = [await startKeySet(), await startKeySet()];
  keySets.push(ourKeySet, theirKeySet);
  ours = await service.organization();
  const theirs = await service.organization({ name: 'Tienda Roja' });
  await service.changeSettings(ours.id, {
    jwks_url: ourKeySet.url,
    jwt_issuer: ISSUER,
    jwt_audience: AUDIENCE,
  });
  await service.changeSettings(theirs.id, { jwks_url: theirKeySet.url });
  credentials = {
    ours: ours.keys,
    ourProduction: (await service.organization({ id: ours.id, environment: 'production' })).keys,
    theirs: theirs.keys,
    revokedPublic: await newKeys(),
    revokedSecret: await newKeys(),
    ourKeySet,
    theirKeySet,
    claims: () => ({ sub: USER, iss: ISSUER, aud: AUDIENCE, iat: nowSeconds(), exp: nowSeconds() + 600 }),
  };
  await service.revokeKey(credentials.revokedPublic.publicKeyId);
  await service.revokeKey(credentials.revokedSecret.secretKeyId);
  data = await prepareExampleData(service, { app: ours, user: USER });
});
afterAll(async () => {
  await service.stop();
  await Promise.all(keySets.map((keySet) => keySet.close()));
});

const newKeys = async () => (await service.organization({ id: ours.id })).keys;
const guarded = keyedEndpoints.filter(({ access }) => access !== 'none');
const open = keyedEndpoints.filter(({ access }) => access === 'none');
const ask = (endpoint: Endpoint, headers: Record<string, string>) =>
  sendExample(baseUrl, endpoint, headers, exampleOf(endpoint, data));
const isWrongFor = ({ wrongFor }: WrongCredential, { access }: Endpoint) => wrongFor?.includes(access) ?? true;

/** What an endpoint gave away beside 401 and the Error body, or undefined. */
function leak({ status, headers, body }: Reply): string | undefined {
  if (status !== 401) return `status ${status}`;
  const extra = ['ratelimit-limit', 'ratelimit-remaining', 'set-cookie'].filter((name) => headers.has(name));
  return extra.length > 0 ? `the headers ${extra}` : faultOfError({ body, headers });
}

async function leaksOf(credential: WrongCredential, endpoints: readonly Endpoint[]): Promise<string[]> {
  const found = await Promise.all(
    endpoints.map(async (endpoint) => {
      const fault = leak(await ask(endpoint, credential.headers));
      return fault === undefined ? [] : [`${credential.name} at ${endpoint.method} ${endpoint.path}: ${fault}`];
    }),
  );
  return found.flat();
}

/** Those that did not do what they were asked. */
async function refusersOf(endpoints: readonly Endpoint[], headers: Record<string, string>): Promise<string[]> {
  const found = await Promise.all(
    endpoints.map(async (endpoint) => {
      const { status, text } = await ask(endpoint, headers);
      const wanted = endpoint.planned ? 501 : successOf(endpoint);
      return status === wanted ? [] : [`${endpoint.operationId}: ${status} ${text}`];
    }),
  );
  return found.flat();
}

describe('every endpoint that needs credentials', () => {
  it('answers every wrong one with 401 and the Error body, and nothing else', async () => {
    const leaks: string[] = [];
    for (const credential of await wrongCredentials(credentials)) {
      leaks.push(
        ...(await leaksOf(
          credential,
          guarded.filter((endpoint) => isWrongFor(credential, endpoint)),
        )),
      );
    }
    expect(leaks).toEqual([]);
  }, 180_000);

  it('lets the right keys in', async () => {
    expect(await refusersOf(guarded, credentials.ours.headers)).toEqual([]);
  });

  it("lets a user's token in where users may call", async () => {
    const headers = {
      'x-api-key': credentials.ours.publicKey,
      authorization: `Bearer ${await credentials.ourKeySet.sign(credentials.claims())}`,
    };
    const forUsers = guarded.filter(({ access }) => access === 'both' || access === 'public');
    expect(await refusersOf(forUsers, headers)).toEqual([]);
  });

  it('lets one key alone in where one is enough', async () => {
    const publicKey = { 'x-api-key': credentials.ours.publicKey };
    const secretKey = { authorization: credentials.ours.headers.authorization };
    const either = guarded.filter(({ access }) => access === 'either');
    expect(await refusersOf(either, publicKey)).toEqual([]);
    expect(await refusersOf(either, secretKey)).toEqual([]);
    const withPublicKey = guarded.filter(({ access }) => access === 'public');
    expect(await refusersOf(withPublicKey, publicKey)).toEqual([]);
  });

  it('reads the scheme in any case, as HTTP does', async () => {
    const headers = { ...credentials.ours.headers, authorization: `bEARER ${credentials.ours.secretKey}` };
    expect(await isAdmitted(baseUrl, headers)).toBe(true);
  });
});

describe('the claim endpoints and shared evidence', () => {
  it('want no credentials, and do not mind wrong ones', async () => {
    expect(open.map(({ operationId }) => operationId)).toEqual([
      'getSharedEvidence',
      'getClaimChallenge',
      'claimGift',
      'redeemGift',
      'getRedeemStatus',
    ]);
    const everyone = [{ headers: {} }, ...(await wrongCredentials(credentials))];
    const refusers = await Promise.all(everyone.map(({ headers }) => refusersOf(open, headers)));
    expect(refusers.flat()).toEqual([]);
  });
});

describe('the development identity provider', () => {
  const as = (keys: { publicKey: string }, token: string) => ({
    'x-api-key': keys.publicKey,
    authorization: `Bearer ${token}`,
  });

  it('speaks for users of the development organisation', async () => {
    const { server } = service;
    expect(await isAdmitted(baseUrl, as(server.credentials, await userToken(server, 'ana')))).toBe(true);
  });

  it('speaks for no other user', async () => {
    const token = await userToken(service.server, 'ana');
    for (const keys of [credentials.ours, credentials.theirs, credentials.ourProduction]) {
      const credential = { name: 'a development token elsewhere', headers: as(keys, token) };
      expect(await leaksOf(credential, guarded)).toEqual([]);
    }
  });
});

describe('gift management that needs the secret key', () => {
  it('refuses the public key alone once the organisation says so', async () => {
    const { id, keys } = await service.organization({ name: 'Tienda Cauta' });
    await service.changeSettings(id, { gifts_need_secret_key: true });
    const gifts = guarded.filter(({ access }) => access === 'either');
    const credential = { name: 'the public key alone', headers: { 'x-api-key': keys.publicKey } };
    expect(await leaksOf(credential, gifts)).toEqual([]);
    const statuses = await Promise.all(gifts.map(async (gift) => (await ask(gift, keys.headers)).status));
    expect(statuses).not.toContain(401);
  });
});

describe('a revoked key', () => {
  /** An announcement through the database takes milliseconds; a machine under load takes longer. */
  const POLL = { timeout: 60_000, interval: 20 };
  const revocations: [string, (keys: Keys) => string][] = [
    ['public', ({ publicKeyId }) => publicKeyId],
    ['secret', ({ secretKeyId }) => secretKeyId],
  ];
  let urls: string[];
  beforeAll(async () => {
    const second = await service.anotherHosted();
    urls = [service.server, second].map(({ credentials }) => credentials.baseUrl);
  });

  it.each(revocations)('stops working on every process: the %s one', async (_, idOf) => {
    const keys = await newKeys();
    const admitted = () => Promise.all(urls.map((url) => isAdmitted(url, keys.headers)));
    expect(await admitted()).toEqual([true, true]);
    await service.revokeKey(idOf(keys));
    await expect.poll(admitted, POLL).toEqual([false, false]);
    for (const url of urls) {
      expect(leak(await send(`${url}/skus`, { headers: keys.headers }))).toBeUndefined();
    }
  });

  it('or a session that was ended stops working on every process', async () => {
    const { headers, signOut } = await signIn(service, 'OWNER');
    const statuses = () => Promise.all(urls.map(async (url) => (await send(`${url}/session`, { headers })).status));
    expect(await statuses()).toEqual([200, 200]);
    await signOut();
    await expect.poll(statuses, POLL).toEqual([401, 401]);
  });

  it('leaves the other keys of its organisation alone', async () => {
    const [gone, kept] = [await newKeys(), await newKeys()];
    await service.revokeKey(gone.secretKeyId);
    await expect.poll(() => isAdmitted(baseUrl, gone.headers), POLL).toBe(false);
    expect(await isAdmitted(baseUrl, kept.headers)).toBe(true);
  });
});
