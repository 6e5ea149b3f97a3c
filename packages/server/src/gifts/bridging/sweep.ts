import { type Db, sql } from '@svc/store';
import { enqueueMany } from '../../jobs/enqueue.ts';
import { BRIDGE_TASK, bridgeJob } from '../redeem-jobs.ts';

/** As many as are enqueued at once; what remains is for the next run. */
const MAX_AT_ONCE = 1_000;

/** Has redeems looked at that nobody looks at any more: a job that was set aside would leave its redeem on the way for ever. */
export async function sweepBridged(db: Db): Promise<void> {
  await db.tx(async (tx) => {
    const redeems = await tx.rows<{ id: string }>(sql`
      select id from gift_redeems
       where destination_chain = 'solana' and status in ('PENDING', 'BRIDGING', 'ATTESTED')
         and (relay_id is null or bridge ->> 'burnedAt' is not null)
         and not exists (
           select from jobs where task = ${BRIDGE_TASK} and key = gift_redeems.id and failed_at is null)
       order by id limit ${MAX_AT_ONCE}`);
    await enqueueMany(
      tx,
      redeems.map(({ id }) => bridgeJob(id)),
    );
  });
}
