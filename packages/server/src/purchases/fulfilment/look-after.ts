import { type Db, sql } from '@svc/store';
import { enqueueMany } from '../../jobs/enqueue.ts';
import { CONFIRM_PAYMENT_TASK, confirmPaymentJob } from './confirm-payment.ts';
import { ORDER_TASK, orderJob } from './order-job.ts';
import type { Purchase } from './purchase.ts';

/** As many as are enqueued at once; what remains is for the next run. */
const MAX_AT_ONCE = 500;

/**
 * Has purchases looked at that nobody looks at any more: a job that was set aside would leave its purchase open for ever. A payment of a
 * cancelled one is waited for somewhat longer than it may be missing.
 */
export async function lookAfterPurchases(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const unpaid = await tx.rows<{ id: string }>(sql`
      select id from transactions
       where type = 'SKU_PURCHASE' and status = 'PENDING' and ${hasNoJob(CONFIRM_PAYMENT_TASK)}
      union all
      select id from transactions
       where type = 'SKU_PURCHASE' and status = 'CANCELLED' and refund_status is null
         and updated_at > now() - interval '48 hours' and ${hasNoJob(CONFIRM_PAYMENT_TASK)}
       limit ${MAX_AT_ONCE}`);
    const unordered = await tx.rows<Purchase['record']>(sql`
      select id, environment from transactions
       where type = 'SKU_PURCHASE' and status = 'PROCESSING' and ${hasNoJob(ORDER_TASK)}
       order by id limit ${MAX_AT_ONCE}`);
    await enqueueMany(tx, [
      ...unpaid.map(({ id }) => confirmPaymentJob(id)),
      ...unordered.map((record) => orderJob({ record })),
    ]);
  });
}

const hasNoJob = (task: string) => sql`
  not exists (select from jobs where task = ${task} and key = transactions.id and failed_at is null)`;
