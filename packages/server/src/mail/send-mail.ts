import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import { newId } from '../ids.ts';
import { enqueueMany } from '../jobs/enqueue.ts';
import { insertMails } from './store.ts';
import type { TemplateContent, TemplateName } from './templates/templates.ts';

export interface NewMail<T extends TemplateName = TemplateName> {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly recipient: string;
  readonly template: T;
  readonly content: TemplateContent[T];
}

export const SEND_TASK = 'send-mail';
/** How many of an environment are sent at the same time by all processes together: a slow mail server must not hold up jobs that move money. */
export const MAIL_LANES = 4;
/** With pauses of an hour that is longer than the three days after which a mail is given up, so that nothing ends here. */
const MAX_ATTEMPTS = 100;

/** Stores mails and the jobs that send them, with everything else that the transaction stores. */
export async function queueMails(tx: Db, mails: readonly NewMail[]): Promise<void> {
  if (mails.length === 0) return;
  const rows = mails.map((mail) => ({ ...mail, id: newId('mail') }));
  await insertMails(tx, rows);
  await enqueueSending(tx, rows);
}

export async function enqueueSending(tx: Db, mails: readonly { id: string; environment: string }[]): Promise<void> {
  const jobs = mails.map(({ id, environment }) => ({
    task: SEND_TASK,
    key: id,
    payload: { id },
    queue: `mail-${environment}-${laneOf(id)}`,
    maxAttempts: MAX_ATTEMPTS,
  }));
  await enqueueMany(tx, jobs);
}

/** The end of an id is random. */
const laneOf = (id: string) => id.charCodeAt(id.length - 1) % MAIL_LANES;
