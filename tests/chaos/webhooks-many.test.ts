import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Behaviour, Receiver } from '../../packages/server/testing/receiver.ts';
import { startReceiver } from '../../packages/server/testing/webhooks.ts';
import { eventually } from '../support/eventually.ts';
import { sized } from '../support/faults.ts';
import { rssOf, type ServerProcess } from '../support/server.ts';
import { TestService } from '../support/service.ts';
import { badReceivers, DELIVERY_LIMIT_MS, WebhookFixture } from '../support/webhooks.ts';

const EVENTS = sized(2_000, 500);
const BATCH = 250;
const FEW = 40;
/** Each event costs some milliseconds, and the machine may be busy. */
const LIMIT_MS = 240_000;
/**
 * Between two collections the heap grows by up to 110 MB in any case (`npm run bench:webhooks`). So this finds gigabytes that are
 * read, not a slow leak, for which the benchmark is.
 */
const MAX_GROWTH_MB = 200;

let service: TestService<ServerProcess>;
let webhooks: WebhookFixture;
beforeAll(async () => {
  service = await TestService.start({ ALLOW_LOOPBACK_URLS: 'on', LOG_LEVEL: 'warn' });
  webhooks = new WebhookFixture(service);
});
afterAll(() => service.stop());

const idOf = ({ headers }: Receiver['received'][number]) => String(headers['webhook-id']);

/** Fails at first for every third event, each time differently, and accepts it later. */
function failingAThird(): Behaviour {
  const ways = ['answers 500', 'redirects', 'closes', 'sends a gigabyte'].map((name) => badReceivers[name]?.behave);
  const seen = new Set<string>();
  return (response, received) => {
    const isNew = !seen.has(idOf(received));
    seen.add(idOf(received));
    const way = isNew && seen.size % 3 === 0 ? ways[(seen.size / 3) % ways.length] : undefined;
    if (way) way(response, received);
    else response.writeHead(204).end();
  };
}

describe(`${EVENTS} events`, () => {
  it(
    'of which a third fails at first all arrive, and memory stays flat',
    async () => {
      const receiver = await startReceiver(failingAThird());
      const webhook = await webhooks.create(receiver.url);
      const { pid } = service.server.process;
      await webhooks.publish(BATCH);
      await receiver.until(BATCH);
      const before = await rssOf(pid);
      for (let published = BATCH; published < EVENTS; published += BATCH) await webhooks.publish(BATCH);
      const isOver = async () => {
        await webhooks.makeDue(webhook);
        return webhooks.states(webhook);
      };
      const states = await eventually(isOver, ({ WAITING = 0 }) => WAITING === 0, LIMIT_MS - DELIVERY_LIMIT_MS);
      expect(states).toEqual({ DELIVERED: EVENTS });
      expect((await rssOf(pid)) - before).toBeLessThan(MAX_GROWTH_MB);

      const stored = await service.database.db.rows<{ id: string; attempts: number }>(sql`
        select event_id as id, attempts from webhook_deliveries where webhook_id = ${webhook.id} order by event_id`);
      const arrived = new Set(receiver.received.map(idOf));
      expect(stored.filter(({ id }) => !arrived.has(id))).toEqual([]);
      // Exactly the failures were repeated.
      const twice = stored.filter(({ attempts }) => attempts === 2).length;
      expect([twice, receiver.received.length]).toEqual([Math.floor(EVENTS / 3), EVENTS + Math.floor(EVENTS / 3)]);
    },
    LIMIT_MS,
  );
});

describe('a receiver that hangs', () => {
  it(
    'does not slow another: its events arrive many times as often as those of the others',
    async () => {
      await webhooks.clear();
      const hanging = await Promise.all(Array.from({ length: 12 }, () => startReceiver(() => undefined)));
      for (const { url } of hanging) await webhooks.create(url);
      const good = await startReceiver();
      const webhook = await webhooks.create(good.url);
      await webhooks.publish(FEW);
      await Promise.all(hanging.map((receiver) => receiver.until(1)));
      await webhooks.publish(FEW);
      await good.until(2 * FEW);
      // Four deliveries of a webhook may be open for 20 s; on a busy machine a second batch may have begun.
      expect(hanging.map(({ received }) => received.length).filter((count) => count > 8)).toEqual([]);
      expect(await webhooks.settled(webhook)).toEqual({ DELIVERED: 2 * FEW });
    },
    LIMIT_MS,
  );
});
