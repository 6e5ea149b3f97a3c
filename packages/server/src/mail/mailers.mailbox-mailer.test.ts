import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { headerOf, readMessage } from '../../../sandbox/src/mailbox/message.ts';
import { letter } from '../../testing/mail.ts';
import { createMailboxMailer, createMailers } from './mailers.ts';
import { SANDBOX_SENDER } from './settings.ts';

const never = new AbortController().signal;

async function startMailbox(status: number) {
  const received: { type: string | undefined; raw: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const raw = Buffer.concat(await request.toArray());
    received.push({ type: request.headers['content-type'], raw });
    response.writeHead(status).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sandbox/mailbox` };
}

it('puts the whole message into the mailbox', async () => {
  const { received, url } = await startMailbox(201);
  expect(await createMailboxMailer(url, SANDBOX_SENDER).send(letter(), never)).toEqual({ outcome: 'SENT' });
  expect(received[0]?.type).toBe('message/rfc822');
  const { headers, text, html } = readMessage(received[0]?.raw ?? Buffer.alloc(0));
  expect(headerOf(headers, 'to')).toBe('ana@example.com');
  expect(headerOf(headers, 'message-id')).toBe('<mail_1@svc.invalid>');
  expect(text).toContain('https://pay.example.com/claim/ABCDEFGH');
  expect(html).toContain('https://pay.example.com/claim/ABCDEFGH');
});

it.each([
  [200, 'SENT'],
  [400, 'REFUSED'],
  [413, 'REFUSED'],
  [404, 'DELAYED'],
  [503, 'DELAYED'],
])('an answer of %i means %s', async (status, outcome) => {
  const { url } = await startMailbox(status);
  expect(await createMailboxMailer(url, SANDBOX_SENDER).send(letter(), never)).toMatchObject({ outcome });
});

it('a mailbox that does not answer delays the letter', async () => {
  const mailer = createMailboxMailer('http://127.0.0.1:1/mailbox', SANDBOX_SENDER);
  expect(await mailer.send(letter(), never)).toMatchObject({ outcome: 'DELAYED' });
});

it('mail of development goes to the mailbox or nowhere, also with SMTP configured', () => {
  const smtp = { host: '127.0.0.1', port: 1, secure: false, requireTls: false, login: undefined };
  const of = (mailboxUrl: string | undefined, server: typeof smtp | undefined) => {
    const mailers = createMailers({ smtp: server, sender: SANDBOX_SENDER }, mailboxUrl);
    onTestFinished(() => mailers.close());
    return mailers;
  };
  const both = of('http://127.0.0.1:1', smtp);
  expect(both.of('development')).not.toBe(both.of('production'));
  expect(of(undefined, smtp).of('development')).toBeUndefined();
  expect(of('http://127.0.0.1:1', undefined).of('production')).toBeUndefined();
});
