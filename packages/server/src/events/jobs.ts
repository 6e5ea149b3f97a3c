import type { Database } from '@svc/store';
import type { JobHandlers, JobLog } from '../jobs/job.ts';
import type { RecurringJob } from '../jobs/recurring.ts';
import { publicOnly } from '../outbound/address-guard.ts';
import { lookAfterWebhooks } from './delivering/look-after.ts';
import { createLookup } from './delivering/lookup.ts';
import { pump } from './delivering/pump.ts';
import { forgetOldEvents } from './forget.ts';
import { PUMP_TASK } from './pump-job.ts';

const LOOK_TASK = 'look-after-webhooks';
const FORGET_TASK = 'forget-old-events';

interface Jobs {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
}

/** Short work on the database. */
export function webhookJobs(db: Database): Jobs {
  return {
    handlers: {
      [LOOK_TASK]: () => lookAfterWebhooks(db),
      [FORGET_TASK]: (_: unknown, { signal }) => forgetOldEvents(db, signal),
    },
    recurring: [
      { task: LOOK_TASK, everySeconds: 60 },
      { task: FORGET_TASK, everySeconds: 3_600 },
    ],
  };
}

/** Sending, which waits for other people's machines: for workers of its own, so that nothing that moves money waits with it. */
export function deliveryJobs(parts: {
  readonly db: Database;
  readonly log: JobLog;
  /** Whether webhooks may lead to this machine. */
  readonly allowLoopback: boolean;
}): Jobs {
  const guard = publicOnly({ allowLoopback: parts.allowLoopback, lookup: createLookup() });
  return {
    handlers: { [PUMP_TASK]: ({ id }: { id: string }, context) => pump({ ...parts, guard }, id, context) },
    recurring: [],
  };
}
