import { verifyWebhook } from '@svc/sdk';
import { sql } from '@svc/store';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { status } from '../../packages/server/testing/receiver.ts';
import { startReceiver } from '../../packages/server/testing/webhooks.ts';
import { caller, send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { TestService } from '../support/service.ts';
import { badReceivers, DELIVERY_LIMIT_MS, WebhookFixture } from '../support/webhooks.ts';

const LIMIT_MS = 2 * DELIVERY_LIMIT_MS;

let service: TestService;
let webhooks: WebhookFixture;
beforeAll(async () => {
  service = await TestService.hosted({ ALLOW_LOOPBACK_URLS: 'on' });
  webhooks = new WebhookFixture(service);
});
afterAll(() => service.stop());

describe('a webhook', () => {
  it('brings an event that the library of Standard WebhookFixture and ours both accept', async () => {
    const receiver = await startReceiver(status(200));
    const webhook = await webhooks.create(receiver.url);
    const delivery = await webhooks.test(webhook);
    expect(await webhooks.tried(webhook, delivery, 1)).toMatchObject({ state: 'DELIVERED', nextAttemptAt: null });
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    const event = { type: 'webhook.test', timestamp: expect.any(String), data: { webhookId: webhook.id } };
    expect(new StandardWebhook(webhook.secret).verify(body, headers as Record<string, string>)).toMatchObject(event);
    expect(await verifyWebhook(body, headers, webhook.secret)).toMatchObject({ ...event, id: delivery.eventId });
    const listed = (await caller(service.server)('/organization/events?type=webhook.test')).body;
    expect(listed).toMatchObject({ data: [{ ...event, id: delivery.eventId }] });
  });

  it('is signed with both secrets while they change, and then with the new one alone', async () => {
    const receiver = await startReceiver();
    const webhook = await webhooks.create(receiver.url);
    const rotated = await webhooks.call(`/${webhook.id}/rotate-secret`, 'POST', { overlapSeconds: 3_600 });
    const { secret } = rotated.body as { secret: string };
    const isSigned = async (by: string) => {
      const { headers, body } = receiver.received.at(-1) ?? { headers: {}, body: '' };
      return verifyWebhook(body, headers, by).then(
        () => true,
        () => false,
      );
    };
    await webhooks.tried(webhook, await webhooks.test(webhook), 1);
    expect([await isSigned(secret), await isSigned(webhook.secret)]).toEqual([true, true]);
    await service.database.db.run(sql`
      update webhook_older_secrets set ends_at = now() where webhook_id = ${webhook.id}`);
    await webhooks.tried(webhook, await webhooks.test(webhook), 1);
    expect([await isSigned(secret), await isSigned(webhook.secret)]).toEqual([true, false]);
  });

  it(
    'whose receiver is no good is tried again when the schedule says, and what happened is kept',
    async () => {
      // All at once, so that none is read when its second attempt is over already.
      const cases = await Promise.all(
        Object.entries(badReceivers).map(async ([name, bad]) => {
          const webhook = await webhooks.create((await startReceiver(bad.behave)).url, { description: name });
          return { name, bad, tried: await webhooks.tried(webhook, await webhooks.test(webhook), 1) };
        }),
      );
      for (const { name, bad, tried } of cases) {
        expect({ name, ...tried }).toMatchObject({ name, state: 'WAITING', attempts: 1 });
        const [attempt] = tried.attemptsMade;
        expect({ name, ...attempt }).toMatchObject({ name, number: 1, status: bad.status });
        expect(attempt?.error).toMatch(bad.error);
        const pauseMs = Date.parse(tried.nextAttemptAt ?? '') - Date.parse(attempt?.at ?? '');
        // An attempt takes up to twenty seconds itself.
        expect(pauseMs, name).toBeGreaterThanOrEqual(bad.pauseSeconds * 1_000);
        expect(pauseMs, name).toBeLessThan(bad.pauseSeconds * 1_100 + 60_000);
      }
    },
    LIMIT_MS,
  );

  it('whose receiver recovers gets the same event again, with the same id', async () => {
    let answer = 500;
    const receiver = await startReceiver((response) => void response.writeHead(answer).end());
    const webhook = await webhooks.create(receiver.url);
    const delivery = await webhooks.test(webhook);
    await webhooks.tried(webhook, delivery, 1);
    answer = 200;
    await webhooks.makeDue(webhook);
    const tried = await webhooks.tried(webhook, delivery, 2);
    expect(tried.attemptsMade.map(({ status }) => status)).toEqual([500, 200]);
    expect(tried.state).toBe('DELIVERED');
    const [first, second] = receiver.received;
    expect([second?.headers['webhook-id'], second?.body]).toEqual([first?.headers['webhook-id'], first?.body]);
  });

  it('whose receiver answers 410 is switched off, and gets what waits once it is on again', async () => {
    let answer = 410;
    const receiver = await startReceiver((response) => void response.writeHead(answer).end());
    const webhook = await webhooks.create(receiver.url);
    const delivery = await webhooks.test(webhook);
    expect(await webhooks.tried(webhook, delivery, 1)).toMatchObject({ state: 'FAILED' });
    expect(await webhooks.read(webhook)).toMatchObject({ isEnabled: false, disabledReason: 'GONE' });
    expect(await webhooks.call(`/${webhook.id}/test`, 'POST')).toMatchObject({ body: { error: 'webhook_disabled' } });
    answer = 204;
    expect((await webhooks.call(`/${webhook.id}`, 'PATCH', { isEnabled: true })).body).toMatchObject({
      isEnabled: true,
    });
    const replay = await webhooks.call(`/${webhook.id}/replay`, 'POST', { eventId: delivery.eventId });
    expect(replay.body).toEqual({ replayed: 1, nextFrom: null });
    await receiver.until(2);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await webhooks.settled(webhook);
    expect(await webhooks.states(webhook)).toEqual({ FAILED: 1, DELIVERED: 1 });
  });
});

it(
  'a receiver that never accepts is given up after ten attempts: it is switched off, and a mail says so',
  async () => {
    const { organizationId } = service.server.credentials;
    await service.database.db.run(sql`
      update environments set notification_email = 'ops@tienda.example' where organization_id = ${organizationId}`);
    const webhook = await webhooks.create((await startReceiver(status(500))).url);
    const delivery = await webhooks.test(webhook);
    const hurried = async () => {
      await webhooks.makeDue(webhook);
      return webhooks.delivery(webhook, delivery);
    };
    const ended = await eventually(hurried, ({ state }) => state !== 'WAITING', DELIVERY_LIMIT_MS);
    expect(ended).toMatchObject({ state: 'FAILED', attempts: 10 });
    expect(ended.attemptsMade.map(({ number, status }) => [number, status])).toEqual(
      Array.from({ length: 10 }, (_, place) => [place + 1, 500]),
    );
    expect(await webhooks.read(webhook)).toMatchObject({ isEnabled: false, disabledReason: 'FAILING' });
    const mailbox = await eventually(
      () => send(`${service.server.origin}/sandbox/mailbox`),
      ({ text }) => text.includes('ops@tienda.example'),
    );
    expect(mailbox.text).toContain('ops@tienda.example');
    expect(mailbox.text).toContain('A webhook was switched off');
  },
  LIMIT_MS,
);
