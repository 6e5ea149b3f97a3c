import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReceiver } from '../../packages/server/testing/webhooks.ts';
import type { Webhook } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import { caller, send } from '../support/client.ts';
import { TestService } from '../support/service.ts';
import { WebhookFixture } from '../support/webhooks.ts';

/** One more process starts, on a machine that may be busy. */
const LIMIT_MS = 120_000;

let service: TestService;
let webhooks: WebhookFixture;
beforeAll(async () => {
  service = await TestService.hosted({ ALLOW_LOOPBACK_URLS: 'on' });
  webhooks = new WebhookFixture(service);
});
afterAll(() => service.stop());

describe('webhooks', () => {
  it('of another organisation, or of the other environment, answer like missing ones, byte for byte', async () => {
    const stranger = (await service.organization({ name: 'Stranger' })).keys;
    const production = (await service.keys('production')).keys;
    const webhook = await webhooks.create((await startReceiver()).url);
    const { id: delivery } = await webhooks.test(webhook);
    await webhooks.settled(webhook);
    const before = await webhooks.read(webhook);
    const requests = [
      ['GET', '', undefined],
      ['PATCH', '', { isEnabled: false }],
      ['DELETE', '', undefined],
      ['POST', '/rotate-secret', {}],
      ['POST', '/test', {}],
      ['POST', '/replay', { from: '2026-01-01' }],
      ['GET', '/deliveries', undefined],
      ['GET', `/deliveries/${delivery}`, undefined],
    ] as const;
    for (const { headers } of [stranger, production]) {
      for (const [method, path, body] of requests) {
        const ask = (id: string) => {
          const url = `${service.server.credentials.baseUrl}/organization/webhooks/${id}${path}`;
          return send(url, { method, headers, ...(body && { body }) });
        };
        const [foreign, missing] = [await ask(webhook.id), await ask('whk_nothing')];
        expectError(foreign, 404, 'webhook_not_found');
        expect(foreign.text).toBe(missing.text);
      }
      const events = await send(`${service.server.credentials.baseUrl}/organization/events`, { headers });
      expect(events.body).toMatchObject({ data: [], total: 0 });
    }
    expect(await webhooks.read(webhook)).toEqual(before);
  });

  it('need no body for a new secret, and a known name for a change', async () => {
    const webhook = await webhooks.create('https://hooks.example/bodies');
    const rotate = `/organization/webhooks/${webhook.id}/rotate-secret`;
    expect((await caller(service.server)(rotate, { method: 'POST' })).status).toBe(200);
    const twice = ['sku-purchase.failed', 'sku-purchase.failed'];
    for (const body of [{}, { isEnable: false }, { eventTypes: twice }]) {
      expectError(await webhooks.call(`/${webhook.id}`, 'PATCH', body), 400, 'invalid_request');
    }
    expect(await webhooks.read(webhook)).toMatchObject({ isEnabled: true });
  });

  it('show a secret in the first answer alone, and keep it out of what is stored for a repetition', async () => {
    const call = caller(service.server);
    const ask = async (path: string, body: object) => {
      const options = { method: 'POST', body, headers: { 'idempotency-key': `secret ${path}` } };
      return [await call(path, options), await call(path, options)].map((reply) => reply.body as Webhook);
    };
    const [made, again] = await ask('/organization/webhooks', { url: 'https://hooks.example/once' });
    expect(made?.secret).toMatch(/^whsec_/);
    expect(again).toEqual({ ...made, secret: null });
    const [rotated, repeated] = await ask(`/organization/webhooks/${made?.id}/rotate-secret`, {});
    expect(rotated?.secret).toMatch(/^whsec_/);
    expect(repeated).toEqual({ ...rotated, secret: null });
    const kept = JSON.stringify(
      await service.database.db.rows(sql`
      select to_jsonb(k) from idempotency_keys k union all select to_jsonb(a) from audit_log a`),
    );
    const shown = [await webhooks.call(''), await webhooks.call(`/${made?.id}`)].map(({ text }) => text).join();
    for (const secret of [made?.secret, rotated?.secret]) {
      expect(kept + shown + service.server.output()).not.toContain(secret?.slice(6, 26));
    }
  });

  it(
    'are sent by one process at a time, however many there are',
    async () => {
      await webhooks.clear();
      const other = await service.anotherHosted({ SVC_ROLE: 'worker' });
      const receiver = await startReceiver();
      const webhook = await webhooks.create(receiver.url);
      await webhooks.publish(200);
      expect(await webhooks.settled(webhook)).toEqual({ DELIVERED: 200 });
      const arrived = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
      expect([arrived.size, receiver.mostOpen() <= 4]).toEqual([200, true]);
      await other.stop();
    },
    LIMIT_MS,
  );

  it('of which one was deleted get nothing more, and what waited has failed', async () => {
    await webhooks.clear();
    const receiver = await startReceiver((response) => void response.writeHead(500).end());
    const webhook = await webhooks.create(receiver.url);
    await webhooks.publish(5);
    await receiver.until(5);
    expect((await webhooks.call(`/${webhook.id}`, 'DELETE')).body).toEqual({ success: true });
    expect(await webhooks.settled(webhook)).toEqual({ FAILED: 5 });
    await webhooks.publish(1);
    expect(await webhooks.states(webhook)).toEqual({ FAILED: 5 });
    expect(receiver.received).toHaveLength(5);
  });

  it('are counted for the operator', async () => {
    await webhooks.clear();
    const webhook = await webhooks.create('https://hooks.example/counted');
    await webhooks.call(`/${webhook.id}`, 'PATCH', { isEnabled: false });
    const { text } = await send(`${service.server.origin}/metrics`);
    expect(text).toContain('svc_webhooks_disabled{environment="development",reason="BY_HAND"} 1');
    expect(text).toContain('# TYPE svc_webhook_deliveries_due gauge');
    expect(text).toContain('# TYPE svc_webhook_deliveries_oldest_due_seconds gauge');
  });
});
