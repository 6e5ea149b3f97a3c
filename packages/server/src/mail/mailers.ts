import type { Environment } from '@svc/protocol';
import { createMailboxMailer } from './mailbox-mailer.ts';
import type { Mailer } from './mailer.ts';
import type { MailSettings } from './settings.ts';
import { createSmtpMailer } from './smtp-mailer.ts';

export interface Mailers {
  /** Who sends an environment's mail; undefined where nobody does. */
  of(environment: Environment): Mailer | undefined;
  close(): void;
}

/** Production sends by SMTP where that is set up. Mail of development goes to the sandbox's mailbox and nowhere else. */
export function createMailers({ smtp, sender }: MailSettings, mailboxUrl: () => string | undefined): Mailers {
  const production = smtp && createSmtpMailer(smtp, sender);
  const development = createMailboxMailer(mailboxUrl, sender);
  return {
    of(environment) {
      if (environment === 'production') return production;
      return mailboxUrl() === undefined ? undefined : development;
    },
    close() {
      production?.close();
      development.close();
    },
  };
}
