import { createHash } from 'node:crypto';
import { ApiError } from '@svc/protocol';
import { type Database, type Db, sql } from '@svc/store';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { headerOf, type Message, readMessage } from './message.ts';

/** Our mails have a few kilobytes. */
const MAX_MAIL_BYTES = 256 * 1024;
/** Longest line that mail servers accept. */
const MAX_HEADER_LENGTH = 998;
const DEFAULT_LIMIT = 100;
const MAX_ID = 2 ** 31 - 1;

/** Nothing runs, loads or submits; links open in a new tab. */
const MAIL_CSP =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox";

/** `POST /mailbox` stores a message; `GET /mailbox` and `/mailbox/{id}` answer JSON, or pages to a browser. */
export function registerMailbox(app: FastifyInstance, db: Database): void {
  app.register(async (scope) => {
    const limits = { parseAs: 'buffer', bodyLimit: MAX_MAIL_BYTES } as const;
    scope.addContentTypeParser('message/rfc822', limits, (_request, body, done) => done(null, body));
    scope.post('/mailbox', async ({ body }, reply) => {
      const { id, isNew } = await storeMail(db, readNewMail(body));
      return reply.code(isNew ? 201 : 200).send({ id });
    });
  });

  app.get<{ Querystring: Record<string, unknown> }>('/mailbox', async (request, reply) => {
    const { to, limit } = readQuery(request.query);
    const mails = await listMails(db, to, limit);
    return wantsPage(request) ? sendPage(reply, listPage(mails)) : { mails };
  });

  app.get<WithId>('/mailbox/:id', async (request, reply) => {
    const { mail, message } = await requireMail(db, request);
    if (wantsPage(request)) return sendPage(reply, mailPage(mail, message));
    return { ...mail, text: message.text ?? null, html: message.html ?? null, headers: message.headers };
  });

  app.get<WithId>('/mailbox/:id/html', async (request, reply) => {
    const { message } = await requireMail(db, request);
    if (message.html === undefined) throw new ApiError('not_found', 'This mail has no HTML part.');
    reply.header('content-security-policy', MAIL_CSP).header('x-frame-options', 'SAMEORIGIN');
    return reply.type('text/html; charset=utf-8').send(message.html);
  });
}

interface WithId {
  readonly Params: { readonly id: string };
}

function readNewMail(body: unknown) {
  if (!Buffer.isBuffer(body)) throw new ApiError('invalid_request', 'The body must be a message/rfc822.');
  const { headers } = readMessage(body);
  const value = (name: string) =>
    headerOf(headers, name).replaceAll('\0', '').slice(0, MAX_HEADER_LENGTH).toWellFormed();
  const messageId = value('message-id');
  if (messageId === '') throw new ApiError('invalid_request', 'The message has no Message-ID.');
  return { messageId, from: value('from'), to: value('to'), subject: value('subject'), raw: body };
}

function readQuery({ to, limit }: Record<string, unknown>): { to: string | undefined; limit: number } {
  if (to !== undefined && (typeof to !== 'string' || to.includes('\0'))) {
    throw new ApiError('invalid_request', 'query.to must be an address.');
  }
  if (limit === undefined) return { to, limit: DEFAULT_LIMIT };
  const count = typeof limit === 'string' && /^\d{1,6}$/.test(limit) ? Number(limit) : 0;
  if (count < 1) throw new ApiError('invalid_request', `query.limit must be a whole number from 1 to ${MAX_MAILS}.`);
  return { to, limit: Math.min(count, MAX_MAILS) };
}

async function requireMail(
  db: Database,
  { params: { id } }: FastifyRequest<WithId>,
): Promise<{ mail: MailSummary; message: Message }> {
  const found = /^\d{1,10}$/.test(id) && Number(id) <= MAX_ID ? await findMail(db, Number(id)) : undefined;
  if (!found) throw new ApiError('not_found', 'No mail has this number.');
  const { raw, ...mail } = found;
  return { mail, message: readMessage(raw) };
}

const wantsPage = ({ headers }: FastifyRequest) => /\btext\/html\b/.test(headers.accept ?? '');

function sendPage(reply: FastifyReply, { html, csp }: { html: string; csp: string }): FastifyReply {
  return reply.header('content-security-policy', csp).type('text/html; charset=utf-8').send(html);
}

export interface MailSummary {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly receivedAt: Date;
}

export interface NewMail {
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly raw: Uint8Array;
}

export const MAX_MAILS = 1_000;

const summary = sql`id, sender as "from", recipient as "to", subject, received_at as "receivedAt"`;

export async function storeMail(db: Db, mail: NewMail): Promise<{ id: number; isNew: boolean }> {
  return db.tx(async (tx) => {
    const added = await tx.one<{ id: number }>(sql`
      insert into sandbox.mails (message_id, sender, recipient, subject, raw)
      values (${mail.messageId}, ${mail.from}, ${mail.to}, ${mail.subject}, ${Buffer.from(mail.raw)})
      on conflict (message_id) do nothing
      returning id`);
    if (!added) {
      const known = await tx.one<{ id: number }>(
        sql`select id from sandbox.mails where message_id = ${mail.messageId}`,
      );
      return { id: known?.id ?? 0, isNew: false };
    }
    await tx.run(sql`
      delete from sandbox.mails
       where id <= (select id from sandbox.mails order by id desc offset ${MAX_MAILS} limit 1)`);
    return { id: added.id, isNew: true };
  });
}

export function listMails(db: Db, to: string | undefined, limit: number): Promise<MailSummary[]> {
  const which = to === undefined ? sql`true` : sql`lower(recipient) = lower(${to})`;
  return db.rows<MailSummary>(sql`
    select ${summary} from sandbox.mails where ${which} order by id desc limit ${limit}`);
}

export function findMail(db: Db, id: number): Promise<(MailSummary & { raw: Buffer }) | undefined> {
  return db.one(sql`select ${summary}, raw from sandbox.mails where id = ${id}`);
}

/** Links are relative, so the pages work below any path. */
export function listPage(mails: readonly MailSummary[]): ReturnType<typeof page> {
  const rows = mails.map(
    ({ id, to, subject, receivedAt }) =>
      `<tr><td>${time(receivedAt)}</td><td>${escapeText(to)}</td><td><a href="mailbox/${id}">${escapeText(subject || '(no subject)')}</a></td></tr>`,
  );
  const table = `<table>
<thead><tr><th scope="col">Received</th><th scope="col">To</th><th scope="col">Subject</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
  const note = `Mail of development comes here and goes nowhere else. The newest ${MAX_MAILS.toLocaleString('en')} are kept.`;
  return page(
    'Mailbox',
    `<h1>Mailbox</h1>\n<p>${note}</p>\n${mails.length > 0 ? table : '<p>There is no mail yet.</p>'}`,
  );
}

export function mailPage(mail: MailSummary, { headers, text, html }: Message): ReturnType<typeof page> {
  const subject = mail.subject || '(no subject)';
  const frame = `<h2>HTML</h2>
<iframe title="The mail's HTML part" sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer" src="${mail.id}/html"></iframe>`;
  const rows = headers.map(
    ({ name, value }) => `<tr><th scope="row">${escapeText(name)}</th><td>${escapeText(value)}</td></tr>`,
  );
  return page(
    subject,
    `<p><a href="../mailbox">Mailbox</a></p>
<h1>${escapeText(subject)}</h1>
<p>To ${escapeText(mail.to)}, ${time(mail.receivedAt)}</p>
${html === undefined ? '' : frame}
<h2>Text</h2>
<pre>${escapeText(text ?? '')}</pre>
<h2>Headers</h2>
<table><tbody>
${rows.join('\n')}
</tbody></table>`,
  );
}

const time = (date: Date) =>
  `<time datetime="${date.toISOString()}">${date.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** A page and its CSP: only its own style, and frames of the same origin. */
export function page(title: string, body: string): { html: string; csp: string } {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const csp = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return {
    csp,
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeText(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`,
  };
}

const STYLE = `
:root{color-scheme:light dark;--page:#fff;--panel:#f5f2ee;--line:#e8e3dd;--ink:#211b17;--muted:#675d55;--link:#a11d4a}
@media (prefers-color-scheme:dark){:root{--page:#131110;--panel:#1b1917;--line:#2f2b28;--ink:#f0ebe6;--muted:#aca39b;--link:#ff9dbb}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.4rem;line-height:1.3;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:2rem 0 .5rem}
a{color:var(--link)}
p{color:var(--muted)}
table{width:100%;table-layout:fixed;border-collapse:collapse;font-size:.95rem}
th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{color:var(--muted);font-weight:600}
th:first-child{width:26%}
iframe{width:100%;height:56rem;border:1px solid var(--line);border-radius:8px;background:#fff}
pre{margin:0;padding:1rem;background:var(--panel);border:1px solid var(--line);border-radius:8px;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.9rem}
`;
