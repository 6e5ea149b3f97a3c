import { createServer, type Server, type Socket } from 'node:net';
import { sql } from '@svc/store';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { status } from '../../packages/server/testing/receiver.ts';
import { startReceiver } from '../../packages/server/testing/webhooks.ts';
import type { Webhook } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import { TestService } from '../support/service.ts';
import { WebhookFixture } from '../support/webhooks.ts';

/** One service allows loopback addresses, the other does not. */
let open: TestService | undefined;
let closed: TestService | undefined;
let inside: WebhookFixture;
let outside: WebhookFixture;
beforeAll(async () => {
  open = await TestService.hosted({ ALLOW_LOOPBACK_URLS: 'on' });
  closed = await TestService.hosted();
  inside = new WebhookFixture(open);
  outside = new WebhookFixture(closed);
}, 300_000);
afterAll(async () => {
  await open?.stop();
  await closed?.stop();
});

/** A server that no request may reach. */
let secret: Server;
let port = 0;
const visits: Socket[] = [];
beforeEach(async () => {
  visits.length = 0;
  secret = createServer((socket) => void visits.push(socket));
  await new Promise<void>((resolve) => secret.listen(0, resolve));
  const address = secret.address();
  port = typeof address === 'object' ? (address?.port ?? 0) : 0;
});
afterEach(() => {
  for (const visit of visits) visit.destroy();
  secret.close();
});

// Every spelling of every kind of address that is not on the public internet.
const literals = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '017700000001',
    '127.8.9.10',
  ],
  ...['0', '0.0.0.0', '10.0.0.1', '100.64.0.1', '100.100.100.200', '169.254.169.254', '2852039166', '172.16.0.1'],
  ...['192.168.0.1', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1'],
  ...['255.255.255.255', '168.63.129.16', '127.0.0.1.', '１２７.0.0.1', '①②⑦.0.0.1', '127。0。0。1', '%31%32%37.0.0.1'],
  ...[
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
  ],
  ...[
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[2001:db8::1]',
    '[ff02::1]',
    'localhost',
    'LOCALHOST',
    'app.localhost',
    'localhost.',
  ],
];

/** A webhook whose address changes after the check. */
async function movedTo(webhooks: WebhookFixture, url: string): Promise<Webhook> {
  const webhook = await webhooks.create('https://hooks.example/');
  await webhooks.db.run(sql`update webhooks set url = ${url} where id = ${webhook.id}`);
  return webhook;
}

describe('an address that is not public', () => {
  it.each(literals)('is refused for a webhook at once: %s', async (host) => {
    for (const scheme of ['http', 'https']) {
      const reply = await outside.call('', 'POST', { url: `${scheme}://${host}:${port}/` });
      expectError(reply, 400, 'invalid_webhook_url');
    }
  });

  it('gets no byte when a webhook that has it is to be sent to, by literal and by name', async () => {
    const urls = ['127.0.0.1', '[::1]', '0.0.0.0', '[::ffff:127.0.0.1]', 'localhost', '2130706433'].flatMap((host) =>
      ['http', 'https'].map((scheme) => `${scheme}://${host}:${port}/`),
    );
    const moved = await Promise.all(urls.map((url) => movedTo(outside, url)));
    for (const webhook of moved) {
      const tried = await outside.tried(webhook, await outside.test(webhook), 1);
      expect(tried.attemptsMade[0]).toMatchObject({ status: null, response: null });
      expect(tried.attemptsMade[0]?.error).toMatch(/does not lead to a public address$/);
    }
    expect(visits).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])('gets no byte when a receiver redirects to it with %i', async (code) => {
    const receiver = await startReceiver(status(code, { location: `http://127.0.0.1:${port}/` }));
    const webhook = await inside.create(receiver.url);
    const tried = await inside.tried(webhook, await inside.test(webhook), 1);
    expect(tried).toMatchObject({ state: 'WAITING', attemptsMade: [{ status: code }] });
    expect([receiver.received.length, visits.length]).toEqual([1, 0]);
  });

  it('stays out of reach where loopback is allowed, unless it is loopback', async () => {
    for (const host of ['0.0.0.0', '10.0.0.1', '169.254.169.254', '[::]', '[::ffff:127.0.0.1]', '192.168.0.1']) {
      expectError(await inside.call('', 'POST', { url: `http://${host}:${port}/` }), 400, 'invalid_webhook_url');
    }
    expectError(await inside.call('', 'POST', { url: 'http://hooks.example/' }), 400, 'invalid_webhook_url');
  });
});

it('what a receiver is told of a failure names neither the path nor the resolved address', async () => {
  const webhook = await movedTo(outside, `https://localhost:${port}/T0/hidden?token=abc`);
  const tried = await outside.tried(webhook, await outside.test(webhook), 1);
  expect(JSON.stringify(tried.attemptsMade)).not.toMatch(/hidden|token|127\.0\.0\.1|::1/);
  expect(closed?.server.output()).not.toMatch(/hidden|token=abc|whsec_/);
});
