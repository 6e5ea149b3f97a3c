import type { Database, Reads } from '@svc/store';
import type { Jobs, Module } from '../http/module.ts';
import type { JobLog } from '../jobs/job.ts';
import { countQueued, type DeliverDeps, deliver, requeueStalledMails, SEND_TASK } from './mail.ts';
import type { Mailers } from './mailers.ts';

const LOOK_TASK = 'look-after-mails';

export interface MailDeps {
  readonly db: Database;
  readonly mailers: Mailers;
  readonly dailyMails: number;
  readonly log: JobLog;
  readonly brandOf?: DeliverDeps['brandOf'];
}

export function create(deps: MailDeps): Module {
  return { handlers: {}, jobs: [mailJobs(deps)], gauges: mailGauges(deps.db.lists) };
}

function mailJobs(deps: MailDeps): Jobs {
  return {
    handlers: {
      [SEND_TASK]: ({ id }: { id: string }, context) => deliver(deps, id, context),
      [LOOK_TASK]: () => requeueStalledMails(deps),
    },
    recurring: [{ task: LOOK_TASK, everySeconds: 60 }],
  };
}

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
