import type { Db } from '@svc/store';
import type { JobContext } from '../jobs/job.ts';
import type { Letter } from './mailer.ts';
import type { Mailers } from './mailers.ts';
import { findQueuedMail, type MailRow, markFailed, markSent } from './store.ts';
import { fillTemplate } from './templates/templates.ts';

export interface DeliverParts {
  readonly db: Db;
  readonly mailers: Mailers;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** A weekend and a day to mend a login; a link that comes later is rather sent by hand. */
const GIVE_UP_AFTER_MS = 3 * 86_400_000;

/**
 * Sends a mail that was queued. After a crash in between it is sent again, under the same Message-ID. A mail that nobody can send
 * stays queued, and a later look finds it.
 */
export async function deliver(parts: DeliverParts, id: string, { signal }: Pick<JobContext, 'signal'>): Promise<void> {
  const { db, mailers, now = Date.now } = parts;
  const mail = await findQueuedMail(db, id);
  const mailer = mail && mailers.of(mail.environment);
  if (!mail || !mailer) return;
  const delivery = await mailer.send(toLetter(mail), signal);
  if (delivery.outcome === 'SENT') return markSent(db, id);
  if (delivery.outcome === 'REFUSED') return markFailed(db, id, delivery.reason);
  if (!signal.aborted && now() - mail.createdAt.getTime() > GIVE_UP_AFTER_MS) {
    return markFailed(db, id, `Given up after three days. ${delivery.reason}`);
  }
  throw new Error(delivery.reason);
}

function toLetter({ id, createdAt, recipient, template, content }: MailRow): Letter {
  return { id, date: createdAt, recipient, ...fillTemplate(template, content) };
}
