import type { Environment } from '@svc/protocol';
import { createTransport, type NodemailerError, type SendMailOptions } from 'nodemailer';
import { oneLine } from '../util/text.ts';
import type { MailSettings, Sender, SmtpServer } from './settings.ts';

export interface Mailers {
  of(environment: Environment): Mailer | undefined;
  close(): void;
}

/** Mail of development goes to the sandbox's mailbox only. */
export function createMailers({ smtp, sender }: MailSettings, mailboxUrl: string | undefined): Mailers {
  const production = smtp && createSmtpMailer(smtp, sender);
  const development = mailboxUrl === undefined ? undefined : createMailboxMailer(mailboxUrl, sender);
  return {
    of: (environment) => (environment === 'production' ? production : development),
    close() {
      production?.close();
      development?.close();
    },
  };
}

export interface Letter {
  /** Becomes the Message-ID, so that receivers recognise a repetition. */
  readonly id: string;
  readonly date: Date;
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The reason is logged, so it contains nothing of the letter or its recipient. */
export type Delivery =
  | { readonly outcome: 'SENT' }
  | { readonly outcome: 'REFUSED'; readonly reason: string }
  | { readonly outcome: 'DELAYED'; readonly reason: string };

export interface Mailer {
  send(letter: Letter, signal: AbortSignal): Promise<Delivery>;
  /** Connects and logs in without sending; answers the trouble. Undefined where there is nothing to check. */
  readonly verify?: () => Promise<string | undefined>;
  close(): void;
}

/** For each step: name, connection, greeting, answer. */
const SMTP_TIMEOUT_MS = 10_000;
const LETTER_TIMEOUT_MS = 60_000;

export function createSmtpMailer(server: SmtpServer, sender: Sender): Mailer {
  const transport = createTransport({
    pool: true,
    maxConnections: MAIL_LANES,
    // The job queue repeats with backoff.
    maxRequeues: 0,
    host: server.host,
    port: server.port,
    secure: server.secure,
    requireTLS: server.requireTls,
    ...(server.login && { auth: { user: server.login.user, pass: server.login.password } }),
    dnsTimeout: SMTP_TIMEOUT_MS,
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
  });
  // Without a listener a broken idle connection would end the process.
  transport.on('error', () => {});
  return {
    async send(letter, signal) {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(LETTER_TIMEOUT_MS)]);
      try {
        await untilAborted(ended, transport.sendMail(compose(letter, sender)));
        return { outcome: 'SENT' };
      } catch (error) {
        if (ended.aborted) return { outcome: 'DELAYED', reason: 'The mail server did not take it in time.' };
        return classifyFailure(error as NodemailerError);
      }
    },
    verify: () =>
      transport.verify().then(
        () => undefined,
        (error: NodemailerError) => codesOf(error),
      ),
    close: () => transport.close(),
  };
}

/** The message may still arrive, so that a repetition is its second copy. */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

const MAILBOX_TIMEOUT_MS = 10_000;

export function createMailboxMailer(mailboxUrl: string, sender: Sender): Mailer {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(letter, signal) {
      const { message } = await composer.sendMail(compose(letter, sender));
      if (!Buffer.isBuffer(message)) throw new Error('The message was composed as a stream.');
      const status = await post(
        mailboxUrl,
        message,
        AbortSignal.any([signal, AbortSignal.timeout(MAILBOX_TIMEOUT_MS)]),
      );
      if (status === 200 || status === 201) return { outcome: 'SENT' };
      const reason = status === undefined ? 'The mailbox did not answer.' : `The mailbox answered HTTP ${status}.`;
      return { outcome: status === 400 || status === 413 ? 'REFUSED' : 'DELAYED', reason };
    },
    close() {},
  };
}

async function post(url: string, message: Buffer, signal: AbortSignal): Promise<number | undefined> {
  try {
    const headers = { 'content-type': 'message/rfc822' };
    const body = new Uint8Array(message);
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
}

/** Addresses are objects, so that no text is read as a list. */
export function compose(letter: Letter, sender: Sender): SendMailOptions {
  const domain = sender.address.slice(sender.address.lastIndexOf('@') + 1);
  return {
    from: { name: sender.name, address: sender.address },
    to: { name: '', address: letter.recipient },
    subject: letter.subject,
    messageId: `<${letter.id}@${domain}>`,
    date: letter.date,
    text: letter.text,
    html: letter.html,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': 'es, en' },
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const MAX_REASON_LENGTH = 300;

/** Only a refusal of this recipient or message is final. A refused login or sender can be fixed by the operator. */
export function classifyFailure(error: NodemailerError): Exclude<Delivery, { outcome: 'SENT' }> {
  const { code, command } = error;
  const refused = error.permanent === true && (command === 'RCPT TO' || command === 'DATA');
  const unsendable = code === 'EENVELOPE' && command === 'API';
  if (unsendable) return { outcome: 'REFUSED', reason: 'The address cannot be written to.' };
  if (refused) return { outcome: 'REFUSED', reason: oneLine(error.response ?? '', MAX_REASON_LENGTH) };
  return { outcome: 'DELAYED', reason: codesOf(error) };
}

/** Codes only: server messages often repeat the recipient's address. */
function codesOf({ code, originalCode, command, responseCode, timeoutType }: NodemailerError): string {
  const codes = [code, originalCode, timeoutType, command, responseCode].filter((part) => part !== undefined);
  return codes.length === 0 ? 'The mail could not be sent.' : `The mail server did not take it (${codes.join(' ')}).`;
}

/** Per environment over all processes: a slow mail server must not delay jobs that move money. */
export const MAIL_LANES = 4;
