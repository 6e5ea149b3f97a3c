import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Keys } from './support/app.ts';
import { expectError } from './support/assertions.ts';
import { type Reply, send, userToken } from './support/client.ts';
import { TestService } from './support/service.ts';

/** The default of the service: the environment says nothing of it. */
const LIMIT = 100;
const REQUESTS = 150;
/** What two replicas may leave unused of a window, a block of five each at most. */
const ENOUGH = 95;

/** The jobs of the first process are enough. */
const API = { SVC_ROLE: 'api' };
let service: TestService;
let urls: [string, string];

beforeAll(async () => {
  service = await TestService.hosted({ RATE_LIMIT_PER_MINUTE: '', TRUST_PROXY: '1' });
  const second = await service.anotherHosted(API);
  urls = [service.server.credentials.baseUrl, second.credentials.baseUrl];
});
afterAll(() => service.stop());

const keys = async () => (await service.keys()).keys;
const get = (url: string, { headers }: Pick<Keys, 'headers'>) => send(`${url}/skus?limit=1`, { headers });
const passed = (replies: readonly Reply[]) => replies.filter(({ status }) => status === 200);
const number = (reply: Reply, name: string) => Number(reply.headers.get(name));

function expectRefusal(reply: Reply): void {
  expectError(reply, 429, 'rate_limited');
  expect(number(reply, 'retry-after')).toBeGreaterThanOrEqual(1);
  expect(number(reply, 'retry-after')).toBeLessThanOrEqual(60);
  expect(reply.headers.get('retry-after')).toBe(reply.headers.get('ratelimit-reset'));
  expect(number(reply, 'ratelimit-remaining')).toBe(0);
}

describe('150 requests within a minute on two processes', () => {
  it('at once: never more than 100 pass, and at least 95', async () => {
    const caller = await keys();
    const replies = await Promise.all(
      Array.from({ length: REQUESTS }, (_, index) => get(urls[index % 2 === 0 ? 0 : 1], caller)),
    );
    expect(passed(replies).length).toBeLessThanOrEqual(LIMIT);
    expect(passed(replies).length).toBeGreaterThanOrEqual(ENOUGH);
    const refused = replies.filter(({ status }) => status !== 200);
    for (const reply of refused) expectRefusal(reply);
  });

  it('one after the other: what remains never grows, and both processes end at nothing', async () => {
    const caller = await keys();
    const remaining: [number[], number[]] = [[], []];
    let count = 0;
    for (let index = 0; index < REQUESTS; index++) {
      const process = index % 3 === 0 ? 1 : 0;
      const reply = await get(urls[process], caller);
      expect(reply.headers.get('ratelimit-limit')).toBe(String(LIMIT));
      if (reply.status === 200) count++;
      else expectRefusal(reply);
      remaining[process].push(number(reply, 'ratelimit-remaining'));
    }
    expect(count).toBeLessThanOrEqual(LIMIT);
    expect(count).toBeGreaterThanOrEqual(ENOUGH);
    for (const list of remaining) {
      expect(list).toEqual(list.toSorted((a, b) => b - a));
      expect(list.at(-1)).toBe(0);
    }
  });

  it('all on one process: exactly 100 pass', async () => {
    const caller = await keys();
    const replies = await Promise.all(Array.from({ length: REQUESTS }, () => get(urls[0], caller)));
    expect(passed(replies)).toHaveLength(LIMIT);
  });
});

describe('the window', () => {
  /** A window that opened this long ago and has nothing left. */
  const spent = async (secondsAgo: number): Promise<Keys> => {
    const caller = await keys();
    await service.database.db.run(sql`
      insert into rate_windows (key_id, started_at, used, granted)
      values (${caller.secretKeyId}, now() - make_interval(secs => ${secondsAgo}), ${LIMIT}, 0)`);
    return caller;
  };

  it('tells how many seconds are left of it', async () => {
    const reply = await get(urls[0], await spent(40));
    expectRefusal(reply);
    expect(number(reply, 'retry-after')).toBeGreaterThan(0);
    expect(number(reply, 'retry-after')).toBeLessThanOrEqual(20);
  });

  it('starts anew after a minute', async () => {
    const reply = await get(urls[0], await spent(61));
    expect([reply.status, number(reply, 'ratelimit-remaining')]).toEqual([200, LIMIT - 1]);
  });

  it('counts refusals of the endpoint, but not of the credentials', async () => {
    const caller = await keys();
    const wrong = { headers: { ...caller.headers, authorization: `Bearer sk_dev_${'a'.repeat(36)}` } };
    const unauthorized = await Promise.all(Array.from({ length: REQUESTS }, () => get(urls[0], wrong)));
    expect(new Set(unauthorized.map(({ status }) => status))).toEqual(new Set([401]));
    const bad = await send(`${urls[0]}/skus?limit=0`, { headers: caller.headers });
    expect([bad.status, number(bad, 'ratelimit-remaining')]).toEqual([400, LIMIT - 1]);
    const next = await get(urls[0], caller);
    expect([next.status, number(next, 'ratelimit-remaining')]).toEqual([200, LIMIT - 2]);
  });

  it('counts requests for unknown paths and unreadable ones, and refuses them when nothing is left', async () => {
    const caller = await keys();
    const paths = ['/nothing', `/skus/${'x'.repeat(2_000)}`, '/skus/%ff'];
    const statuses: [number, number][] = [];
    for (const path of paths) {
      const reply = await send(urls[0] + path, { headers: caller.headers });
      statuses.push([reply.status, number(reply, 'ratelimit-remaining')]);
    }
    expect(statuses).toEqual([
      [404, LIMIT - 1],
      [400, LIMIT - 2],
      [400, LIMIT - 3],
    ]);
    const empty = await spent(10);
    for (const path of paths) expectRefusal(await send(urls[0] + path, { headers: empty.headers }));
  });
});

describe('a caller at the limit', () => {
  let users = 0;
  const asUser = async ({ publicKey }: Keys) => {
    const token = await userToken(service.server, `limited ${users++}`);
    return { headers: { 'x-api-key': publicKey, authorization: `Bearer ${token}` } };
  };
  /** `GET /config` needs the public key alone. */
  const from = (client: string, headers: Record<string, string>, url = urls[0]) =>
    send(`${url}/config`, { headers: { ...headers, 'x-forwarded-for': client } });
  const repeat = (times: number, request: () => Promise<Reply>) => Promise.all(Array.from({ length: times }, request));

  it('with a secret key is refused with every public key, and other secret keys of the public key go on', async () => {
    const [first, second] = [await keys(), await keys()];
    await repeat(LIMIT, () => get(urls[0], first));
    const mixed = (one: Keys, other: Keys) => ({
      headers: { ...one.headers, authorization: other.headers.authorization },
    });
    expectRefusal(await get(urls[0], first));
    expectRefusal(await get(urls[0], mixed(second, first)));
    expect((await get(urls[0], mixed(first, second))).status).toBe(200);
  });

  it("with a user's token is refused alone: other users, the secret key and the public key go on", async () => {
    const caller = await keys();
    const [ana, luis] = [await asUser(caller), await asUser(caller)];
    expect(passed(await repeat(REQUESTS, () => get(urls[0], ana)))).toHaveLength(LIMIT);
    expectRefusal(await get(urls[1], ana));
    expectRefusal(await from('198.51.100.9', ana.headers));
    const others = [await get(urls[0], luis), await get(urls[0], caller)];
    for (const reply of others) expect([reply.status, number(reply, 'ratelimit-remaining')]).toEqual([200, LIMIT - 1]);
    expect((await from('198.51.100.9', { 'x-api-key': caller.publicKey })).status).toBe(200);
  });

  it('with the public key alone is refused at that address alone: other addresses, users and the secret key go on', async () => {
    const caller = await keys();
    const headers = { 'x-api-key': caller.publicKey };
    const [here, there] = ['198.51.100.1', '198.51.100.2'];
    expect(passed(await repeat(REQUESTS, () => from(here, headers)))).toHaveLength(LIMIT);
    expectRefusal(await from(here, headers));
    expectRefusal(await send(`${urls[0]}/nothing`, { headers: { ...headers, 'x-forwarded-for': here } }));
    const others = [
      await from(there, headers),
      await from(here, (await asUser(caller)).headers),
      await from(here, caller.headers),
      await from(here, { 'x-api-key': (await keys()).publicKey }),
    ];
    for (const reply of others) expect([reply.status, number(reply, 'ratelimit-remaining')]).toEqual([200, LIMIT - 1]);
  });

  describe('where the operator sets a ceiling of 120 for the users of a public key', () => {
    const CEILING = 120;
    let url: string;
    beforeAll(async () => {
      url = (await service.anotherHosted({ ...API, PUBLIC_KEY_LIMIT_PER_MINUTE: String(CEILING) })).credentials.baseUrl;
    });

    it('all users together end there, and the answers name the limit that was met', async () => {
      const caller = await keys();
      const three = [await asUser(caller), await asUser(caller), await asUser(caller)];
      const replies = (await Promise.all(three.map((user) => repeat(CEILING / 2, () => get(url, user))))).flat();
      expect(passed(replies)).toHaveLength(CEILING);
      const refused = replies.filter(({ status }) => status !== 200);
      for (const reply of refused) expectRefusal(reply);
      expect(new Set(refused.map((reply) => number(reply, 'ratelimit-limit')))).toEqual(new Set([CEILING]));
      expect((await get(url, caller)).status).toBe(200);
      expect((await from('198.51.100.3', { 'x-api-key': caller.publicKey }, url)).status).toBe(200);
    });

    it('refusals of one user use up nothing of it', async () => {
      const caller = await keys();
      const [ana, luis] = [await asUser(caller), await asUser(caller)];
      expect(passed(await repeat(2 * CEILING, () => get(url, ana)))).toHaveLength(LIMIT);
      expect(passed(await repeat(CEILING, () => get(url, luis)))).toHaveLength(CEILING - LIMIT);
    });
  });
});

describe('failed authentications', () => {
  const LIMIT_OF_FAILURES = 20;
  let url: string;
  let guesses = 0;
  beforeAll(async () => {
    url = (await service.anotherHosted({ ...API, FAILED_AUTH_PER_MINUTE: String(LIMIT_OF_FAILURES) })).credentials
      .baseUrl;
  });
  const guess = (client: string, path = '/skus?limit=1') => {
    const secret = `sk_dev_${String(guesses++).padStart(36, 'a')}`;
    const headers = { 'x-api-key': service.server.credentials.publicKey, authorization: `Bearer ${secret}` };
    return send(url + path, { headers: { ...headers, 'x-forwarded-for': client } });
  };
  const known = (client: string, headers: Record<string, string>) =>
    send(`${url}/skus?limit=1`, { headers: { ...headers, 'x-forwarded-for': client } });

  it('end at their limit for that address, known callers and other addresses go on', async () => {
    const caller = await keys();
    const [here, there] = ['198.51.100.20', '198.51.100.21'];
    expect((await known(here, caller.headers)).status).toBe(200);
    for (let i = 0; i < LIMIT_OF_FAILURES; i++) expectError(await guess(here), 401, 'invalid_api_key');
    for (const path of ['/skus?limit=1', '/nothing']) {
      const reply = await guess(here, path);
      expectError(reply, 429, 'rate_limited');
      expect(number(reply, 'retry-after')).toBeGreaterThanOrEqual(1);
    }
    expect((await known(here, caller.headers)).status).toBe(200);
    expectError(await guess(there), 401, 'invalid_api_key');
    expect((await known(there, (await keys()).headers)).status).toBe(200);
  });

  it('at unknown paths count too: they tell a right key from a wrong one', async () => {
    const client = '198.51.100.22';
    for (let i = 0; i < LIMIT_OF_FAILURES; i++) expectError(await guess(client, '/nothing'), 404, 'not_found');
    expectError(await guess(client, '/nothing'), 429, 'rate_limited');
  });
});
