import { type Environment, environments } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { JobLog } from '../jobs/job.ts';
import type { Mailers } from './mailers.ts';
import { enqueueSending, SEND_TASK } from './send-mail.ts';
import { countQueued, mailsWithoutJob } from './store.ts';

/** As many as a bulk makes; the next look takes more. */
const MAX_AT_ONCE = 500;

const missing: Readonly<Record<Environment, string>> = {
  production: 'mails wait until SMTP_URL is set',
  development: 'mails wait until the sandbox is on',
};

/** Sends what waited for a way to send, and says what still does. */
export async function lookAfterMails(parts: { db: Database; mailers: Mailers; log: JobLog }): Promise<void> {
  const { db, mailers, log } = parts;
  const queued = await countQueued(db);
  for (const environment of environments) {
    const waiting = queued.find((counted) => counted.environment === environment)?.mails ?? 0;
    if (waiting === 0) continue;
    if (!mailers.of(environment)) {
      log.warn({ environment, mails: waiting }, missing[environment]);
      continue;
    }
    await db.tx(async (tx) => enqueueSending(tx, await mailsWithoutJob(tx, SEND_TASK, environment, MAX_AT_ONCE)));
  }
}
