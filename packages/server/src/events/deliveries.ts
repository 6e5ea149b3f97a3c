import {
  type AnswerOf,
  ApiError,
  type Delivery,
  type DeliveryState,
  type EventType,
  type endpoints,
  giftEventTypes,
  parseMoment,
} from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import { type Answer, type Call, type PageOf, readPage, toPage } from '../http/call.ts';
import { newId } from '../util/ids.ts';
import type { AttemptRecord } from './delivery-attempt.ts';
import { enqueueDeliveries, insertTestEvent, isWanted, type OwnedWebhook } from './events.ts';
import { findWebhook, type WebhookOwner, type WebhookRecord } from './webhooks.ts';

type ListDeliveries = typeof endpoints.listDeliveries;
type GetDelivery = typeof endpoints.getDelivery;

export async function listDeliveries(
  db: Reads,
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

/** Conditions that are not needed are left out, so that an index can serve the query. */
function matches(webhookId: string, { state, eventId }: Call<ListDeliveries>['query']): Sql {
  const ofWebhook = sql`delivery.webhook_id = ${webhookId}`;
  // Literals, because each partial index is of one state.
  const inState = {
    WAITING: sql`${ofWebhook} and delivery.state = 'WAITING'`,
    DELIVERED: sql`${ofWebhook} and delivery.state = 'DELIVERED'`,
    FAILED: sql`${ofWebhook} and delivery.state = 'FAILED'`,
  };
  const matching = state === undefined ? ofWebhook : inState[state];
  return eventId === undefined ? matching : sql`${matching} and delivery.event_id = ${eventId}`;
}

interface DeliveredEvent {
  readonly data: Record<string, unknown>;
  readonly happenedAt: Date;
}

interface NumberedAttempt extends AttemptRecord {
  readonly number: number;
}

export async function getDelivery(
  reads: Reads,
  owner: WebhookOwner,
  { id, deliveryId }: Call<GetDelivery>['params'],
): Promise<AnswerOf<GetDelivery>> {
  await findWebhook(reads, owner, id);
  const found = await reads.one<DeliveryRecord & DeliveredEvent>(sql`
    select ${deliveryColumns}, event.data, event.created_at as "happenedAt"
      from webhook_deliveries as delivery join events as event on event.id = delivery.event_id
     where delivery.id = ${deliveryId} and delivery.webhook_id = ${id}`);
  if (!found) throw new ApiError('delivery_not_found');
  const { data, happenedAt, ...delivery } = found;
  const attempts = await reads.rows<NumberedAttempt>(sql`
    select number, at, duration_ms as "durationMs", status, error, response
      from webhook_attempts where delivery_id = ${deliveryId} order by number`);
  return {
    ...toDelivery(delivery),
    event: { id: delivery.eventId, type: delivery.eventType, timestamp: happenedAt.toISOString(), data },
    attemptsMade: attempts.map((attempt) => ({ ...attempt, at: attempt.at.toISOString() })),
  };
}

export interface DeliveryRecord {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** Of `webhook_deliveries as delivery join events as event`. */
export const deliveryColumns = sql`delivery.id, delivery.event_id as "eventId", event.type as "eventType", delivery.state,
  delivery.attempts, delivery.next_attempt_at as "nextAttemptAt", delivery.created_at as "createdAt",
  delivery.ended_at as "endedAt"`;

export function toDelivery(record: DeliveryRecord): Delivery {
  return {
    ...record,
    nextAttemptAt: record.nextAttemptAt?.toISOString() ?? null,
    createdAt: record.createdAt.toISOString(),
    endedAt: record.endedAt?.toISOString() ?? null,
  };
}

type ReplayWebhook = typeof endpoints.replayWebhook;

/** Some megabytes of rows in one transaction. The answer says where the rest begins. */
export const MAX_REPLAYED = 10_000;

/** An event that is still waiting is sent at once instead of twice, so repeated calls add nothing. */
export function replayWebhook({ caller, params, body, transact }: Call<ReplayWebhook>): Promise<Answer<ReplayWebhook>> {
  const range = readRange(body);
  return transact(async (tx) => {
    const webhook = await findWebhook(tx, caller, params.id);
    if (webhook.disabledReason !== null) throw new ApiError('webhook_disabled');
    const found = await tx.rows<EventRef>(
      range ? eventsOf(caller, webhook, range) : eventOf(caller, webhook, body.eventId ?? ''),
    );
    const [events, next] = [found.slice(0, MAX_REPLAYED), found[MAX_REPLAYED]];
    if (!range && events.length === 0) throw new ApiError('event_not_found');
    await requeueEvents(
      tx,
      { id: webhook.id, organizationId: caller.organizationId },
      events.map(({ id }) => id),
    );
    const replayed = events.length;
    const { eventId, from, to } = body;
    const changes = { eventId, from, to, replayed };
    await recordChange(tx, caller, { action: 'webhook.replayed', target: webhook.id, changes });
    return { replayed, nextFrom: next?.at.toISOString() ?? null };
  });
}

interface EventRef {
  readonly id: string;
  /** In whole milliseconds, as `from` can express it. */
  readonly at: Date;
}

interface Range {
  readonly from: Date;
  readonly to: Date | undefined;
}

function readRange({ eventId, from, to }: Call<ReplayWebhook>['body']): Range | undefined {
  if ((eventId === undefined) === (from === undefined)) {
    throw new ApiError('invalid_request', 'body must have either eventId or from.');
  }
  if (from === undefined) {
    if (to !== undefined) throw new ApiError('invalid_request', 'body.to needs body.from.');
    return undefined;
  }
  const range = { from: readMoment('from', from), to: to === undefined ? undefined : readMoment('to', to) };
  if (range.to && range.to <= range.from) throw new ApiError('invalid_request', 'body.to must be after body.from.');
  return range;
}

function readMoment(field: string, text: string): Date {
  const moment = parseMoment(text);
  if (moment.ok) return moment.value;
  throw new ApiError('invalid_request', `body.${field} ${moment.reason}.`);
}

const eventRefColumns = sql`id, date_trunc('milliseconds', created_at) as at`;

/** Of any type but a gift event that the webhook does not name. */
const eventOf = (owner: WebhookOwner, { eventTypes }: WebhookRecord, id: string): Sql => sql`
  select ${eventRefColumns} from events
   where id = ${id} and organization_id = ${owner.organizationId} and environment = ${owner.environment}
     and (type <> all (${giftEventTypes}::text[]) or type = any (${eventTypes}::text[]))`;

/** The oldest first, and one more to tell where the rest begins. Without tests, which are for one webhook. */
const eventsOf = (owner: WebhookOwner, { eventTypes }: WebhookRecord, { from, to = null }: NullableTo): Sql => sql`
  select ${eventRefColumns} from events
   where organization_id = ${owner.organizationId} and environment = ${owner.environment}
     and created_at >= ${from} and created_at < coalesce(${to}::timestamptz, 'infinity')
     and type <> 'webhook.test' and ${isWanted(sql`${eventTypes}::text[]`, sql`type`)}
   order by created_at, id
   limit ${MAX_REPLAYED + 1}`;
type NullableTo = Omit<Range, 'to'> & { readonly to?: Date | null | undefined };

async function requeueEvents(tx: Db, webhook: OwnedWebhook, eventIds: readonly string[]): Promise<void> {
  const { id: webhookId } = webhook;
  if (eventIds.length === 0) return;
  // Serialised: two concurrent calls would both find nothing waiting.
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`replay ${webhookId}`}, 0))`);
  const ids = eventIds.map(() => newId('dlv'));
  await tx.run(sql`
    update webhook_deliveries set next_attempt_at = least(next_attempt_at, now())
     where webhook_id = ${webhookId} and state = 'WAITING' and event_id = any (${eventIds}::text[])`);
  await tx.run(sql`
    insert into webhook_deliveries (id, webhook_id, event_id)
    select id, ${webhookId}, event_id
      from unnest(${ids}::text[], ${eventIds}::text[]) as replayed (id, event_id)
     where not exists (
       select from webhook_deliveries as waiting
        where waiting.webhook_id = ${webhookId} and waiting.event_id = replayed.event_id and waiting.state = 'WAITING')`);
  await enqueueDeliveries(tx, [webhook]);
}

type TestWebhook = typeof endpoints.testWebhook;

export function testWebhook({ caller, params, transact }: Call<TestWebhook>): Promise<Answer<TestWebhook>> {
  const { organizationId, environment } = caller;
  return transact(async (tx) => {
    const { id, disabledReason } = await findWebhook(tx, caller, params.id);
    if (disabledReason !== null) throw new ApiError('webhook_disabled');
    const data = { webhookId: id, message: 'This is a test. Nothing has happened.' };
    const event = await insertTestEvent(tx, { organizationId, environment, type: 'webhook.test', data }, id);
    const stored = await tx.one<DeliveryRecord>(sql`
      select ${deliveryColumns} from webhook_deliveries as delivery join events as event on event.id = delivery.event_id
       where delivery.event_id = ${event}`);
    if (!stored) throw new Error('A delivery that was stored is not there.');
    return toDelivery(stored);
  });
}
