import { type Db, sql } from '@svc/store';
import { enqueuePumps, PUMP_TASK } from '../pump-job.ts';

/** Whatever is left is for the next look. */
const MAX_AT_ONCE = 500;

/** Orders a turn for webhooks at which something is due and whose job has used up its attempts, as after days without a database. */
export async function lookAfterWebhooks(db: Db): Promise<void> {
  const left = await db.rows<{ id: string }>(sql`
    select id from webhooks
     where (disabled_reason is null or deleted_at is not null)
       and exists (select from webhook_deliveries
                    where webhook_id = webhooks.id and state = 'WAITING' and next_attempt_at <= now())
       and not exists (select from jobs where task = ${PUMP_TASK} and key = webhooks.id and failed_at is null)
     limit ${MAX_AT_ONCE}`);
  await enqueuePumps(
    db,
    left.map(({ id }) => id),
  );
}
