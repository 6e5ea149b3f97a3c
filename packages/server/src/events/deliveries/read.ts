import { type AnswerOf, ApiError, type Delivery, type endpoints } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Call } from '../../http/call.ts';
import { type PageOf, readPage, toPage } from '../../http/pages.ts';
import { findWebhook, type WebhookOwner } from '../webhooks/webhook.ts';
import { type DeliveryRecord, deliveryColumns, toDelivery } from './delivery.ts';

type ListDeliveries = typeof endpoints.listDeliveries;
type GetDelivery = typeof endpoints.getDelivery;

/** Newest first. */
export async function listDeliveries(
  db: Db,
  owner: WebhookOwner,
  webhookId: string,
  query: Call<ListDeliveries>['query'],
): Promise<PageOf<Delivery>> {
  await findWebhook(db, owner, webhookId);
  const page = readPage(query);
  const matching = matches(webhookId, query);
  const [deliveries, count] = await Promise.all([
    db.rows<DeliveryRecord>(sql`
      select ${deliveryColumns} from webhook_deliveries as delivery join events as event on event.id = delivery.event_id
       where ${matching}
       order by delivery.id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total from webhook_deliveries as delivery where ${matching}`),
  ]);
  return toPage(deliveries.map(toDelivery), Number(count?.total ?? 0n), page);
}

/** Only what is asked for is named, so that an index can serve it. */
function matches(webhookId: string, { state, eventId }: Call<ListDeliveries>['query']): Sql {
  const ofWebhook = sql`delivery.webhook_id = ${webhookId}`;
  // Spelt out, because the indexes of a state hold for that state alone.
  const inState = {
    WAITING: sql`${ofWebhook} and delivery.state = 'WAITING'`,
    DELIVERED: sql`${ofWebhook} and delivery.state = 'DELIVERED'`,
    FAILED: sql`${ofWebhook} and delivery.state = 'FAILED'`,
  };
  const matching = state === undefined ? ofWebhook : inState[state];
  return eventId === undefined ? matching : sql`${matching} and delivery.event_id = ${eventId}`;
}

interface AttemptRecord {
  readonly number: number;
  readonly at: Date;
  readonly durationMs: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

/** A delivery with every attempt, the first one first. */
export async function getDelivery(
  reads: Reads,
  owner: WebhookOwner,
  { id, deliveryId }: Call<GetDelivery>['params'],
): Promise<AnswerOf<GetDelivery>> {
  await findWebhook(reads, owner, id);
  const found = await reads.one<DeliveryRecord>(sql`
    select ${deliveryColumns} from webhook_deliveries as delivery join events as event on event.id = delivery.event_id
     where delivery.id = ${deliveryId} and delivery.webhook_id = ${id}`);
  if (!found) throw new ApiError('delivery_not_found');
  const attempts = await reads.rows<AttemptRecord>(sql`
    select number, at, duration_ms as "durationMs", status, error, response
      from webhook_attempts where delivery_id = ${deliveryId} order by number`);
  return {
    ...toDelivery(found),
    attemptsMade: attempts.map((attempt) => ({ ...attempt, at: attempt.at.toISOString() })),
  };
}
