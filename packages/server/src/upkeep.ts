import type { Db } from '@svc/store';
import { forgetOldKeys } from './http/idempotency.ts';
import { forgetEndedWindows } from './http/rate-limit.ts';
import type { JobHandlers } from './jobs/job.ts';
import type { RecurringJob } from './jobs/recurring.ts';

/** What keeps the house clean: small recurring jobs, each run once over all replicas. */
export function upkeepHandlers(db: Db): JobHandlers {
  return {
    'forget-idempotency-keys': async () => {
      await forgetOldKeys(db);
    },
    'forget-rate-windows': async () => {
      await forgetEndedWindows(db);
    },
  };
}

export const upkeep: readonly RecurringJob[] = [
  { task: 'forget-idempotency-keys', everySeconds: 3_600 },
  { task: 'forget-rate-windows', everySeconds: 600 },
];
