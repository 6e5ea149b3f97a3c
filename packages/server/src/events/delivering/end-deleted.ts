import { type Db, sql } from '@svc/store';

/** So many at once hold no lock for long. */
const BATCH = 1_000;
/** More than ever wait for one webhook; whatever is left is for the next look. */
const MAX_BATCHES = 1_000;

/** What waits for a webhook that was deleted will never be sent. */
export async function endDeletedDeliveries(db: Db, webhookId: string): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const ended = await db.run(sql`
      update webhook_deliveries set state = 'FAILED', next_attempt_at = null, ended_at = now()
       where state = 'WAITING' and id in (
         select id from webhook_deliveries where webhook_id = ${webhookId} and state = 'WAITING' limit ${BATCH})`);
    if (ended < BATCH) return;
  }
}
