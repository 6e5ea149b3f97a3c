import { generateKeyPairSync } from 'node:crypto';
import tls from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { headerOf, readMessage } from '../../../sandbox/src/mailbox/message.ts';
import { letter, type SmtpBehaviour, smtpError, startSmtp } from '../../testing/mail.ts';
import { selfSigned } from '../../testing/servers.ts';
import { createSmtpMailer, type Mailer } from './mailers.ts';
import type { SmtpServer } from './settings.ts';

const login = { user: 'svc@example.com', password: 's3cr%t/pw' };
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const cert = selfSigned(privateKey, publicKey, 'mail.example', [127, 0, 0, 1]);
const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const never = new AbortController().signal;

function mailerFor({ host, port }: { host: string; port: number }, change: Partial<SmtpServer> = {}): Mailer {
  const server = { host, port, secure: false, requireTls: false, login: undefined, ...change };
  const mailer = createSmtpMailer(server, { name: 'Regalos «Azul»', address: 'gifts@shop.example' });
  onTestFinished(() => mailer.close());
  return mailer;
}

async function prepare(behaviour: SmtpBehaviour = {}, change: Partial<SmtpServer> = {}) {
  const smtp = await startSmtp(behaviour);
  return { smtp, mailer: mailerFor(smtp, change) };
}

describe('a letter by SMTP', () => {
  it('arrives with both parts, its link, its sender and its date', async () => {
    const { smtp, mailer } = await prepare();
    expect(await mailer.send(letter(), never)).toEqual({ outcome: 'SENT' });
    const [mail] = smtp.mails;
    expect(mail).toMatchObject({ sender: 'gifts@shop.example', recipients: ['ana@example.com'] });
    const { headers, text, html } = readMessage(mail?.raw ?? Buffer.alloc(0));
    expect(headerOf(headers, 'message-id')).toBe('<mail_1@shop.example>');
    expect(headerOf(headers, 'date')).toBe('Wed, 04 Mar 2026 05:06:07 +0000');
    expect(headerOf(headers, 'from')).toBe('Regalos «Azul» <gifts@shop.example>');
    expect(headerOf(headers, 'auto-submitted')).toBe('auto-generated');
    expect(headerOf(headers, 'content-type')).toMatch(/^multipart\/alternative/);
    expect(text?.replaceAll('\r\n', '\n').trimEnd()).toBe(letter().text.trimEnd());
    expect(html?.replaceAll('\r\n', '\n').trimEnd()).toBe(letter().html.trimEnd());
  });

  it('needs a server that answers and takes the login, which can be checked without one', async () => {
    const { smtp, mailer } = await prepare();
    expect(await mailer.verify?.()).toBeUndefined();
    const nowhere = mailerFor({ host: '127.0.0.1', port: 1 });
    expect(await nowhere.verify?.()).toMatch(/ESOCKET|ECONNECTION/);
    expect(smtp.mails).toEqual([]);
  });

  it('has the same Message-ID whenever it is sent again', async () => {
    const { smtp, mailer } = await prepare();
    for (let count = 0; count < 2; count++) await mailer.send(letter(), never);
    const ids = smtp.mails.map(({ raw }) => headerOf(readMessage(raw).headers, 'message-id'));
    expect(ids).toEqual(['<mail_1@shop.example>', '<mail_1@shop.example>']);
  });

  it.each(['ana@example.com, eva@example.com', 'ana@example.com>\r\nRCPT TO:<eva@example.com'])(
    'is never written to more than the one address: %j',
    async (recipient) => {
      const { smtp, mailer } = await prepare();
      await mailer.send(letter({ recipient }), never);
      expect(smtp.mails.every(({ recipients }) => recipients.length === 1)).toBe(true);
      expect(smtp.mails.flatMap(({ recipients }) => recipients)).not.toContain('eva@example.com');
    },
  );

  it('gains no header and no recipient from its subject', async () => {
    const { smtp, mailer } = await prepare();
    await mailer.send(letter({ subject: 'Hola\r\nBcc: eva@example.com\r\n\r\n<b>🎁</b>' }), never);
    const [mail] = smtp.mails;
    const { headers } = readMessage(mail?.raw ?? Buffer.alloc(0));
    expect(mail?.recipients).toEqual(['ana@example.com']);
    expect(headers.map(({ name }) => name.toLowerCase())).not.toContain('bcc');
    expect(headerOf(headers, 'subject')).toMatch(/^Hola.*🎁/);
  });
});

describe('the login', () => {
  it('is made with the name and the password of the address', async () => {
    const { smtp, mailer } = await prepare({ authOptional: false, allowInsecureAuth: true }, { login });
    expect(await mailer.send(letter(), never)).toEqual({ outcome: 'SENT' });
    expect(smtp.mails[0]?.user).toBe(login.user);
  });

  it('that is refused delays the letter, and the reason does not contain the login', async () => {
    const wrong = { ...login, password: 'hunter2' };
    const { smtp, mailer } = await prepare({ authOptional: false, allowInsecureAuth: true }, { login: wrong });
    const delivery = await mailer.send(letter(), never);
    expect(delivery.outcome).toBe('DELAYED');
    expect(JSON.stringify(delivery)).not.toMatch(/hunter2|svc@example/);
    expect(smtp.mails).toEqual([]);
  });
});

describe('TLS', () => {
  it('is insisted on: a server that offers none gets neither the login nor the letter', async () => {
    const { smtp, mailer } = await prepare({ allowInsecureAuth: true }, { login, requireTls: true });
    expect(await mailer.send(letter(), never)).toMatchObject({ outcome: 'DELAYED' });
    expect([smtp.mails, smtp.logins]).toEqual([[], []]);
  });

  it.each([true, false])(
    'with a certificate that nobody vouches for gets neither (from the start: %s)',
    async (secure) => {
      const { smtp, mailer } = await prepare({ key, cert, secure }, { login, secure, requireTls: true });
      expect(await mailer.send(letter(), never)).toMatchObject({ outcome: 'DELAYED' });
      expect([smtp.mails, smtp.logins]).toEqual([[], []]);
    },
  );

  it.each([true, false])('with a trusted certificate carries login and letter (from the start: %s)', async (secure) => {
    const authorities = tls.getCACertificates('default');
    tls.setDefaultCACertificates([...authorities, cert]);
    onTestFinished(() => tls.setDefaultCACertificates(authorities));
    const { smtp, mailer } = await prepare(
      { key, cert, secure, authOptional: false },
      { login, secure, requireTls: true },
    );
    expect(await mailer.send(letter(), never)).toEqual({ outcome: 'SENT' });
    expect(smtp.mails).toMatchObject([{ secure: true, user: login.user }]);
  });
});

describe('a no', () => {
  const saying = (error: Error) => (_address: unknown, _session: unknown, done: (error: Error) => void) => done(error);

  it('for good, to the recipient or the letter, is the end, with the reason of the server', async () => {
    const unknown = await prepare({ onRcptTo: saying(smtpError(550, 'No such user here')) });
    const first = await unknown.mailer.send(letter(), never);
    expect(first).toEqual({ outcome: 'REFUSED', reason: expect.stringContaining('No such user here') });
    const spam = await prepare({ answer: () => smtpError(554, 'Looks like spam') });
    const second = await spam.mailer.send(letter(), never);
    expect(second).toEqual({ outcome: 'REFUSED', reason: expect.stringContaining('Looks like spam') });
  });

  it.each([
    ['to the recipient, for now', { onRcptTo: saying(smtpError(451, 'Come back, ana@example.com')) }],
    ['to the letter, for now', { answer: () => smtpError(452, 'Full, ana@example.com') }],
    ['to the sender', { onMailFrom: saying(smtpError(553, 'Not yours to send to ana@example.com')) }],
    ['to everybody', { onConnect: (_: unknown, done: (error: Error) => void) => done(smtpError(554, 'Go away')) }],
  ])('%s delays it, and the reason names nobody', async (_what, behaviour) => {
    const { mailer } = await prepare(behaviour);
    const delivery = await mailer.send(letter(), never);
    expect(delivery).toEqual({ outcome: 'DELAYED', reason: expect.stringMatching(/\(.*\d{3}\)/) });
    expect(JSON.stringify(delivery)).not.toMatch(/ana|Come|Full|yours/);
  });
});

describe('a connection', () => {
  it('that breaks after the letter and before its answer delays it; sent again, it arrives', async () => {
    const { smtp, mailer } = await prepare({ answer: (count) => (count === 1 ? 'hang-up' : undefined) });
    expect(await mailer.send(letter(), never)).toMatchObject({ outcome: 'DELAYED' });
    expect(await mailer.send(letter(), never)).toEqual({ outcome: 'SENT' });
    expect(smtp.mails).toHaveLength(2);
  });

  it('that cannot be made delays it', async () => {
    const mailer = mailerFor({ host: '127.0.0.1', port: 1 });
    const delivery = await mailer.send(letter(), never);
    expect(delivery).toEqual({ outcome: 'DELAYED', reason: expect.stringContaining('ECONNREFUSED') });
  });

  it('on which nothing is answered is left when the job is interrupted', async () => {
    const interruption = new AbortController();
    const answer = () => {
      interruption.abort(new Error('The process stops.'));
      return new Promise<undefined>(() => {});
    };
    const { mailer } = await prepare({ answer });
    expect(await mailer.send(letter(), interruption.signal)).toMatchObject({ outcome: 'DELAYED' });
  });
});
