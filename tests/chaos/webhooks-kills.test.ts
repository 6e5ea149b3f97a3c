import { once } from 'node:events';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReceiver } from '../../packages/server/testing/webhooks.ts';
import type { Webhook } from '../support/app.ts';
import { openDatabaseProxy, random, seedCount } from '../support/faults.ts';
import { TestService } from '../support/service.ts';
import { WebhookFixture } from '../support/webhooks.ts';

const KILLS = seedCount(6);
const EVENTS = 12;
/** Roughly the chunks from the first poll to the last of a dozen deliveries. */
const STEPS = 60;
const WAIT_LIMIT_MS = 60_000;
const LIMIT_MS = 120_000 + KILLS * 20_000;

let service: TestService;
let webhooks: WebhookFixture;
beforeAll(async () => {
  // Without jobs, so that victims do all work.
  service = await TestService.hosted({ SVC_ROLE: 'api', ALLOW_LOOPBACK_URLS: 'on' });
  webhooks = new WebhookFixture(service);
});
afterAll(() => service.stop());

/** Every stored event has arrived, every delivery has ended as delivered, and every attempt is numbered. */
async function expectAll(webhook: Webhook, arrived: ReadonlySet<string>): Promise<void> {
  expect(await webhooks.settled(webhook)).toEqual({ DELIVERED: arrived.size });
  const rows = await service.database.db.rows<{ id: string; attempts: number; kept: number }>(sql`
    select event_id as id, attempts, (select count(*)::integer from webhook_attempts where delivery_id = delivery.id) as kept
      from webhook_deliveries as delivery where webhook_id = ${webhook.id}`);
  expect(rows.filter(({ id }) => !arrived.has(id))).toEqual([]);
  expect(rows.filter(({ attempts, kept }) => attempts !== kept)).toEqual([]);
}

describe('a process that is killed while it delivers', () => {
  it(
    `leaves nothing undelivered: ${KILLS} seeds`,
    async () => {
      const arrived = new Set<string>();
      const receiver = await startReceiver((response, { headers }) => {
        arrived.add(String(headers['webhook-id']));
        response.writeHead(204).end();
      });
      const webhook = await webhooks.create(receiver.url);
      for (let seed = 0; seed < KILLS; seed++) {
        const next = random(seed);
        const proxy = await openDatabaseProxy(service.databaseUrl);
        const victim = await service.another({ DATABASE_URL: proxy.url, SVC_ROLE: 'worker' });
        const died = once(victim.process, 'exit', { signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
        const step = 1 + Math.floor(next() * STEPS);
        proxy.cutAfter(step, next() < 0.5 ? 'before' : 'after', () => victim.process.kill('SIGKILL'));
        await webhooks.publish(EVENTS);
        await died;
        proxy.close();
      }
      const survivor = await service.anotherHosted({ SVC_ROLE: 'worker' });
      expect(await webhooks.settled(webhook)).toEqual({ DELIVERED: KILLS * EVENTS });
      await expectAll(webhook, arrived);
      await survivor.stop();
    },
    LIMIT_MS,
  );

  it(
    'between the answer and its storing sends that event again, with the same id',
    async () => {
      await webhooks.clear();
      const victim = await service.another({ SVC_ROLE: 'worker' });
      const died = once(victim.process, 'exit');
      const receiver = await startReceiver((response) => {
        victim.process.kill('SIGKILL');
        response.writeHead(204).end();
      });
      const webhook = await webhooks.create(receiver.url);
      await webhooks.test(webhook);
      await died;
      const survivor = await service.anotherHosted({ SVC_ROLE: 'worker' });
      await receiver.until(2);
      const [first, second] = receiver.received;
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(await webhooks.settled(webhook)).toEqual({ DELIVERED: 1 });
      await survivor.stop();
    },
    LIMIT_MS,
  );
});
