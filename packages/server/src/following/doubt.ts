import type { Db } from '@svc/store';
import { enqueueMany } from '../jobs/enqueue.ts';
import { confirmJob } from '../transactions/confirm.ts';
import type { TransactionRecord } from '../transactions/record.ts';

/** What one statement of the queue takes. */
const JOBS_AT_ONCE = 1_000;

/**
 * Has records looked at again that follow no relay: the chain may have changed since it was asked about them. A relay's records
 * follow the relay, and what was received is found by following.
 */
export async function doubtSends(tx: Db, records: readonly TransactionRecord[]): Promise<void> {
  const jobs = records.filter(({ relayId, type }) => relayId === undefined && type !== 'RECEIVE').map(confirmJob);
  for (let start = 0; start < jobs.length; start += JOBS_AT_ONCE) {
    await enqueueMany(tx, jobs.slice(start, start + JOBS_AT_ONCE));
  }
}
