import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import type { Letter } from '../src/mail/mailers.ts';
import { type GiftContent, giftMail } from '../src/mail/templates/gift.ts';

export interface ReceivedMail {
  readonly recipients: readonly string[];
  readonly sender: string;
  readonly secure: boolean;
  readonly user: unknown;
  readonly raw: Buffer;
}

export interface SmtpTestServer {
  readonly host: '127.0.0.1';
  readonly port: number;
  /** Messages that arrived whole, accepted or not. */
  readonly mails: readonly ReceivedMail[];
  /** As `name:password`. */
  readonly logins: readonly string[];
}

export interface SmtpBehaviour extends SMTPServerOptions {
  /** By the number of the message, from 1; undefined accepts it. */
  readonly answer?: (count: number) => Error | 'hang-up' | undefined | Promise<undefined>;
}

/** 4xx is temporary, 5xx permanent. */
export const smtpError = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode });

/** An SMTP server, by default without TLS and login. */
export async function startSmtp({ answer = () => undefined, ...options }: SmtpBehaviour = {}): Promise<SmtpTestServer> {
  const mails: ReceivedMail[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    disabledCommands: options.key === undefined ? ['STARTTLS'] : [],
    authOptional: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, done) => {
      logins.push(`${username}:${password}`);
      if (password !== 's3cr%t/pw') return done(smtpError(535, 'Wrong name or password'));
      return done(null, { user: username });
    },
    ...options,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const sender = mailFrom ? mailFrom.address : '';
        const recipients = rcptTo.map(({ address }) => address);
        mails.push({ sender, recipients, secure: session.secure, user: session.user, raw: Buffer.concat(chunks) });
        const said = await answer(mails.length);
        if (said !== 'hang-up') return done(said ?? null);
        for (const connection of server.connections) connection._socket.destroy();
      });
    },
  });
  // Some tests disconnect in the middle.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    for (const connection of server.connections) connection._socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(stop);
  const { port } = server.server.address() as AddressInfo;
  return { host: '127.0.0.1', port, mails, logins };
}

export const content: GiftContent = {
  code: 'ABCDEFGH',
  name: 'Premio de verano',
  amountUsd: '25.5',
  claimUrl: 'https://pay.example.com/claim/ABCDEFGH',
  orgName: 'Tienda Azul',
};

export function letter(change: Partial<Letter> = {}): Letter {
  const head = { id: 'mail_1', date: new Date('2026-03-04T05:06:07Z'), recipient: 'ana@example.com' };
  return { ...head, ...giftMail(content), ...change };
}
