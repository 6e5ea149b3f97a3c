import { ApiError } from '@svc/protocol';
import { sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sandbox } from '../index.ts';
import { MAX_MAILS, registerMailbox } from './mailbox.ts';

let database: TestDatabase;
let app: FastifyInstance;
beforeAll(async () => {
  database = await TestDatabase.create([sandbox.migrations]);
  app = Fastify();
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof ApiError ? error.status : ((error as { statusCode?: number }).statusCode ?? 500);
    return reply.code(status).send({ message: error instanceof Error ? error.message : '' });
  });
  app.register(async (scope) => registerMailbox(scope, database.db), { prefix: '/sandbox' });
});
beforeEach(async () => {
  await database.db.run(sql`delete from sandbox.mails`);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

interface Mail {
  readonly id?: string;
  readonly to?: string;
  readonly subject?: string;
  readonly html?: string;
}
const message = ({ id = '<1@x>', to = 'ana@example.com', subject = 'Hola', html = '<b>Hola</b>' }: Mail = {}) =>
  [
    `Message-ID: ${id}`,
    'From: svc <no-reply@svc.invalid>',
    `To: ${to}`,
    `Subject: ${subject}`,
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    `the text & <i>of ${id}</i>`,
    '--b',
    'Content-Type: text/html',
    '',
    html,
    '--b--',
  ].join('\r\n');

const post = (payload: string, type = 'message/rfc822') =>
  app.inject({ method: 'POST', url: '/sandbox/mailbox', headers: { 'content-type': type }, payload });
const get = (path: string, accept = '*/*') => app.inject({ url: `/sandbox/mailbox${path}`, headers: { accept } });

describe('the mailbox', () => {
  it('lists mails with the newest first, and those of one recipient', async () => {
    await post(message({ id: '<1@x>', subject: 'first' }));
    await post(message({ id: '<2@x>', to: 'Eva@example.com', subject: 'second' }));
    const { mails } = (await get('')).json();
    expect(mails.map(({ subject }: { subject: string }) => subject)).toEqual(['second', 'first']);
    expect(mails[1]).toEqual({
      id: expect.any(Number),
      from: 'svc <no-reply@svc.invalid>',
      to: 'ana@example.com',
      subject: 'first',
      receivedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await get('?to=eva@EXAMPLE.com')).json().mails).toMatchObject([{ subject: 'second' }]);
    expect((await get('?limit=1')).json().mails).toMatchObject([{ subject: 'second' }]);
    for (const query of ['?limit=0', '?limit=x', '?to=a&to=b']) expect((await get(query)).statusCode).toBe(400);
  });

  it('keeps a message that comes twice once', async () => {
    const [first, second] = [await post(message()), await post(message())];
    expect([first.statusCode, second.statusCode]).toEqual([201, 200]);
    expect(second.json()).toEqual(first.json());
    expect((await get('')).json().mails).toHaveLength(1);
  });

  it('shows a mail with its parts and headers', async () => {
    const { id } = (await post(message())).json();
    expect((await get(`/${id}`)).json()).toMatchObject({
      id,
      to: 'ana@example.com',
      text: 'the text & <i>of <1@x></i>',
      html: '<b>Hola</b>',
      headers: expect.arrayContaining([{ name: 'Message-ID', value: '<1@x>' }]),
    });
    for (const path of ['/0', '/x', '/99999999999', '/-1', `/${id}0/html`]) {
      expect((await get(path)).statusCode).toBe(404);
    }
  });

  it('keeps the newest thousand', async () => {
    await database.db.run(sql`
      insert into sandbox.mails (message_id, sender, recipient, subject, raw)
      select n, '', '', n, '' from generate_series(1, ${MAX_MAILS + 5}) as n`);
    await post(message({ subject: 'newest' }));
    expect(await database.db.one(sql`select count(*)::integer as count from sandbox.mails`)).toEqual({
      count: MAX_MAILS,
    });
    const { mails } = (await get('?limit=999999')).json();
    expect(mails).toHaveLength(MAX_MAILS);
    expect([mails[0].subject, mails.at(-1).subject]).toEqual(['newest', '7']);
  });

  it('refuses what is no message, and what is too large', async () => {
    expect((await post('To: a@b\r\n\r\nx')).statusCode).toBe(400);
    expect((await post('{}', 'application/json')).statusCode).toBe(400);
    expect((await post(`${message()}${'x'.repeat(256 * 1024)}`)).statusCode).toBe(413);
    expect((await get('')).json().mails).toEqual([]);
  });
});

describe('in a browser', () => {
  const hostile = '<script>alert(1)</script>"><img src=x onerror=alert(1)>';

  it('the mailbox and a mail are pages, and what others wrote is text in them', async () => {
    const { id } = (await post(message({ subject: hostile, to: hostile }))).json();
    for (const path of ['', `/${id}`]) {
      const { headers, body } = await get(path, 'text/html,application/xhtml+xml');
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^ ]+'; /);
      expect(body).not.toMatch(/<script|<img/);
      expect(body).toContain('&lt;script&gt;');
    }
  });

  it("a mail's HTML part is framed so that nothing in it runs", async () => {
    const { id } = (await post(message({ html: hostile }))).json();
    const page = (await get(`/${id}`, 'text/html')).body;
    expect(page).toContain(`sandbox="allow-popups allow-popups-to-escape-sandbox"`);
    expect(page).toContain(`src="${id}/html"`);
    const { headers, body } = await get(`/${id}/html`, 'text/html');
    const policy = String(headers['content-security-policy']);
    expect(body).toBe(hostile);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/script|allow-same-origin/);
    expect(policy).toMatch(/; sandbox allow-popups /);
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
  });
});
