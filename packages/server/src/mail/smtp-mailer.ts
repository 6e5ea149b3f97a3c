import { createTransport, type NodemailerError } from 'nodemailer';
import { compose } from './compose.ts';
import { judgeFailure } from './judge-failure.ts';
import type { Mailer } from './mailer.ts';
import { MAIL_LANES } from './send-mail.ts';
import type { Sender, SmtpServer } from './settings.ts';

/** For each wait: the name, the connection, the greeting, an answer. */
const SMTP_TIMEOUT_MS = 10_000;
/** A whole letter, also where a server keeps every single wait short. */
const LETTER_TIMEOUT_MS = 60_000;

/** Sends by an SMTP server over a few connections that stay open between letters. */
export function createSmtpMailer(server: SmtpServer, sender: Sender): Mailer {
  const transport = createTransport({
    pool: true,
    maxConnections: MAIL_LANES,
    // The queue repeats; the pool would do so without its pauses.
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
  // An idle connection that breaks is replaced by the next letter; an unheard event would end the process.
  transport.on('error', () => {});
  return {
    async send(letter, signal) {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(LETTER_TIMEOUT_MS)]);
      try {
        await unless(ended, transport.sendMail(compose(letter, sender)));
        return { outcome: 'SENT' };
      } catch (error) {
        if (ended.aborted) return { outcome: 'DELAYED', reason: 'The mail server did not take it in time.' };
        return judgeFailure(error as NodemailerError);
      }
    },
    close: () => transport.close(),
  };
}

/** Rejects as soon as the signal is aborted. What was begun then ends unheard, and the letter may arrive twice. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort));
}
