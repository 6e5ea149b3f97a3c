import type { Database } from '@svc/store';
import type { JobHandlers, JobLog } from '../jobs/job.ts';
import type { RecurringJob } from '../jobs/recurring.ts';
import { deliver } from './deliver.ts';
import { lookAfterMails } from './look-after-mails.ts';
import type { Mailers } from './mailers.ts';
import { SEND_TASK } from './send-mail.ts';

const LOOK_TASK = 'look-after-mails';

export function mailJobs(parts: { readonly db: Database; readonly mailers: Mailers; readonly log: JobLog }): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: {
      [SEND_TASK]: ({ id }: { id: string }, context) => deliver(parts, id, context),
      [LOOK_TASK]: () => lookAfterMails(parts),
    },
    recurring: [{ task: LOOK_TASK, everySeconds: 60 }],
  };
}
