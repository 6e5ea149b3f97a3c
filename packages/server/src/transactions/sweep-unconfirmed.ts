import { type Db, sql } from '@svc/store';
import { enqueueMany } from '../jobs/enqueue.ts';
import { CONFIRM_TASK, confirmJob } from './confirm.ts';

/** As many as are enqueued at once; what remains is for the next run. */
const MAX_AT_ONCE = 1_000;

/**
 * Has reported transfers looked at that nobody looks at any more: a job that was set aside or removed would leave its record
 * pending for ever.
 */
export async function sweepUnconfirmed(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const records = await tx.rows<{ id: string }>(sql`
      select id from transactions
       where status = 'PENDING' and type = 'SEND' and relay_id is null and transaction_hash is not null
         and not exists (
           select from jobs
            where task = ${CONFIRM_TASK} and key = transactions.id and worker is null and failed_at is null)
         and not exists (
           select from jobs where task = ${CONFIRM_TASK} and key = transactions.id and worker is not null)
       order by id limit ${MAX_AT_ONCE}`);
    await enqueueMany(tx, records.map(confirmJob));
  });
}
