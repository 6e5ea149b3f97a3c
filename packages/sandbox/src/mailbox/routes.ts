import { ApiError } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { listPage, mailPage } from './pages.ts';
import { headerOf, type Message, readMessage } from './read-message.ts';
import { findMail, keepMail, listMails, MAX_MAILS, type MailSummary } from './store.ts';

/** A mail of ours has some kilobytes. */
const MAX_MAIL_BYTES = 256 * 1024;
/** The longest line that mail servers pass on. */
const MAX_HEADER_LENGTH = 998;
const DEFAULT_LIMIT = 100;
/** Largest number of an integer column. */
const MAX_ID = 2 ** 31 - 1;

/** Nothing in it runs, is loaded or is sent; its links open in a tab of their own. */
const MAIL_CSP =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox";

/** `POST /mailbox` takes a message; `GET /mailbox` and `/mailbox/{id}` show them as JSON, or to a browser as pages. */
export function registerMailbox(app: FastifyInstance, db: Database): void {
  app.register(async (scope) => {
    const limits = { parseAs: 'buffer', bodyLimit: MAX_MAIL_BYTES } as const;
    scope.addContentTypeParser('message/rfc822', limits, (_request, body, done) => done(null, body));
    scope.post('/mailbox', async ({ body }, reply) => {
      const { id, isNew } = await keepMail(db, readNewMail(body));
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
