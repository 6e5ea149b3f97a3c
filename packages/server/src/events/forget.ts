import { type Db, type Sql, sql } from '@svc/store';

const KEPT_DAYS = 90;
/** So many at once hold no lock for long. */
const BATCH = 1_000;
/** Whatever is left is for the next run. */
const MAX_BATCHES = 1_000;

const isOld = (column: Sql) => sql`${column} < now() - make_interval(days => ${KEPT_DAYS})`;

/**
 * Removes secrets that no longer sign, and what ended long ago: deliveries with their attempts, then events and deleted webhooks that
 * no delivery names. What has waited as long at a webhook that is off ends.
 */
export async function forgetOldEvents(db: Db, signal?: AbortSignal): Promise<void> {
  const unnamed = (column: Sql, id: Sql) => sql`not exists (select from webhook_deliveries where ${column} = ${id})`;
  const all = [
    sql`delete from webhook_older_secrets where id in (
          select id from webhook_older_secrets where ends_at <= now() limit ${BATCH} for update skip locked)`,
    // Nobody switches a webhook on after so long for their sake.
    sql`update webhook_deliveries set state = 'FAILED', next_attempt_at = null, ended_at = now() where id in (
          select delivery.id from webhooks join webhook_deliveries as delivery on webhook_id = webhooks.id
           where disabled_reason is not null and state = 'WAITING' and ${isOld(sql`delivery.created_at`)}
           limit ${BATCH} for update of delivery skip locked)`,
    sql`delete from webhook_deliveries where id in (
          select id from webhook_deliveries where state <> 'WAITING' and ${isOld(sql`ended_at`)}
           limit ${BATCH} for update skip locked)`,
    sql`delete from events where id in (
          select id from events where ${isOld(sql`created_at`)} and ${unnamed(sql`event_id`, sql`events.id`)}
           limit ${BATCH} for update skip locked)`,
    sql`delete from webhooks where id in (
          select id from webhooks where ${isOld(sql`deleted_at`)} and ${unnamed(sql`webhook_id`, sql`webhooks.id`)}
           limit ${BATCH} for update skip locked)`,
  ];
  for (const batch of all) {
    for (let run = 0; run < MAX_BATCHES && !signal?.aborted; run++) {
      if ((await db.run(batch)) < BATCH) break;
    }
  }
}
