import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Keys } from './support/app.ts';
import { expectError } from './support/assertions.ts';
import { type Reply, send } from './support/client.ts';
import { TestService } from './support/service.ts';

/** The default of the service: the environment says nothing of it. */
const LIMIT = 100;
const REQUESTS = 150;
/** What two replicas may leave unused of a window, a block of five each at most. */
const ENOUGH = 95;

let service: TestService;
let urls: [string, string];

beforeAll(async () => {
  service = await TestService.start({ RATE_LIMIT_PER_MINUTE: '' });
  const second = await service.another();
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
      values (${caller.publicKeyId}, now() - make_interval(secs => ${secondsAgo}), ${LIMIT}, 0)`);
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

  it('is shared by all callers with the same public key', async () => {
    const [first, second] = [await keys(), await keys()];
    await Promise.all(Array.from({ length: LIMIT }, () => get(urls[0], first)));
    const mixed = { headers: { ...first.headers, authorization: second.headers.authorization } };
    expectRefusal(await get(urls[0], mixed));
    expect((await get(urls[0], second)).status).toBe(200);
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
