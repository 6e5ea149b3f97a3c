import type { Database, Reads } from '@svc/store';
import type { JobHandlers, JobLog, RecurringJob } from '../jobs/job.ts';
import { countQueued, deliver, lookAfterMails, SEND_TASK } from './mail.ts';
import type { Mailers } from './mailers.ts';

const LOOK_TASK = 'look-after-mails';

export function mailJobs(deps: { readonly db: Database; readonly mailers: Mailers; readonly log: JobLog }): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: {
      [SEND_TASK]: ({ id }: { id: string }, context) => deliver(deps, id, context),
      [LOOK_TASK]: () => lookAfterMails(deps),
    },
    recurring: [{ task: LOOK_TASK, everySeconds: 60 }],
  };
}

/** What an operator sets an alarm on: mails that nobody has sent yet. */
export function mailGauges(reads: Reads) {
  return [
    {
      name: 'svc_mails_queued',
      help: 'Mails that were not sent yet',
      labelNames: ['environment'],
      read: async () =>
        (await countQueued(reads)).map(({ environment, mails }) => ({ labels: { environment }, value: mails })),
    },
  ];
}
