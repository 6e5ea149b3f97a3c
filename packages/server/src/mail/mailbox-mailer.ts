import { createTransport } from 'nodemailer';
import { compose } from './compose.ts';
import type { Mailer } from './mailer.ts';
import type { Sender } from './settings.ts';

/** It is on this machine, and stores one row. */
const MAILBOX_TIMEOUT_MS = 10_000;

/** Puts letters into a mailbox by HTTP, as whole messages. A message that is there already is not put there again. */
export function createMailboxMailer(mailboxUrl: () => string | undefined, sender: Sender): Mailer {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(letter, signal) {
      const url = mailboxUrl();
      if (url === undefined) return { outcome: 'DELAYED', reason: 'There is no mailbox.' };
      const { message } = await composer.sendMail(compose(letter, sender));
      if (!Buffer.isBuffer(message)) throw new Error('The message was composed as a stream.');
      const status = await post(url, message, AbortSignal.any([signal, AbortSignal.timeout(MAILBOX_TIMEOUT_MS)]));
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
