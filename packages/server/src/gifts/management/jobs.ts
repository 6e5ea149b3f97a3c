import type { JobHandlers } from '../../jobs/job.ts';
import type { RecurringJob } from '../../jobs/recurring.ts';
import type { GiftParts } from './parts.ts';
import { releaseExpired } from './release-expired.ts';

const RELEASE_TASK = 'release-expired-gifts';

export function giftJobs({ db, now = Date.now }: Pick<GiftParts, 'db' | 'now'>): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: { [RELEASE_TASK]: (_: unknown, { signal }) => releaseExpired(db, now(), signal) },
    recurring: [{ task: RELEASE_TASK, everySeconds: 15 }],
  };
}
