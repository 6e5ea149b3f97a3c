import type { Reads } from '@svc/store';
import { countQueued } from './store.ts';

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
