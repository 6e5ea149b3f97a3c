import type { EventType } from '@svc/protocol';
import { type Db, sql } from '@svc/store';

/** A delivery that is due, with all that is needed to send it. */
export interface DueDelivery {
  readonly id: string;
  readonly webhookId: string;
  /** Made so far. */
  readonly attempts: number;
  readonly url: string;
  /** All that sign, the newest first. */
  readonly secrets: readonly string[];
  readonly eventId: string;
  readonly type: EventType;
  readonly createdAt: Date;
  readonly data: Record<string, unknown>;
}

/** The longest due first; none while the webhook is switched off. */
export function findDue(
  db: Db,
  webhookId: string,
  { except, limit }: { readonly except: readonly string[]; readonly limit: number },
): Promise<DueDelivery[]> {
  return db.rows<DueDelivery>(sql`
    select delivery.id, delivery.webhook_id as "webhookId", delivery.attempts, webhook.url,
           webhook.secret || array(
             select older.secret from webhook_older_secrets as older
              where older.webhook_id = webhook.id and older.ends_at > now() order by older.id desc) as secrets,
           event.id as "eventId", event.type, event.created_at as "createdAt", event.data
      from webhook_deliveries as delivery
      join webhooks as webhook on webhook.id = delivery.webhook_id
      join events as event on event.id = delivery.event_id
     where delivery.webhook_id = ${webhookId} and delivery.state = 'WAITING' and delivery.next_attempt_at <= now()
       and webhook.deleted_at is null and webhook.disabled_reason is null
       and delivery.id <> all (${except}::text[])
     order by delivery.next_attempt_at, delivery.id
     limit ${limit}`);
}

export interface NextDue {
  readonly isDeleted: boolean;
  readonly isDisabled: boolean;
  /** Whether a delivery waits at all. */
  readonly waits: boolean;
  /** When the next one is due; null when it is now. Both by the database's clock, as everything that is due. */
  readonly laterAt: Date | null;
}

export function findNextDue(db: Db, webhookId: string): Promise<NextDue | undefined> {
  return db.one<NextDue>(sql`
    select deleted_at is not null as "isDeleted", disabled_reason is not null as "isDisabled", next_at is not null as waits,
           case when next_at > now() then next_at end as "laterAt"
      from webhooks
      left join lateral (
        select min(next_attempt_at) as next_at from webhook_deliveries
         where webhook_id = webhooks.id and state = 'WAITING') as deliveries on true
     where id = ${webhookId}`);
}
