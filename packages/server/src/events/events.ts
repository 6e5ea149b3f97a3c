import { type Environment, type Event, type EventType, type endpoints, giftEventTypes } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { type Call, type Caller, type PageOf, readPage, toPage } from '../http/call.ts';
import { enqueueMany } from '../jobs/job.ts';
import { newId } from '../util/ids.ts';

export interface NewEvent {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly type: EventType;
  /** One event of a type for each subject, such as a purchase's id. Without one, the caller tells of each change once. */
  readonly subject?: string | undefined;
  /** As `EventData` describes it for the type. */
  readonly data: object;
}

interface EventPlace {
  readonly organizationId: Sql;
  readonly environment: Sql;
  readonly type: Sql;
}

/** Enabled webhooks that get events of a type. Gift events need one that names them. */
const listeners = ({ organizationId, environment, type }: EventPlace): Sql => sql`
  select webhooks.id from webhooks
   where webhooks.organization_id = ${organizationId} and webhooks.environment = ${environment}
     and deleted_at is null and disabled_reason is null and ${isWanted(sql`event_types`, type)}`;

export const isWanted = (types: Sql, type: Sql): Sql => sql`
  case when ${types} is null then ${type} <> all (${giftEventTypes}::text[]) else ${type} = any (${types}) end`;

/** For a query of redeems: whether a webhook names one of the gift events. Saves a statement where none does. */
export const giftEventsWanted: Sql = sql`exists (
  select from webhooks
   where webhooks.organization_id = gift_redeems.organization_id and webhooks.environment = gift_redeems.environment
     and deleted_at is null and disabled_reason is null and event_types && ${giftEventTypes}::text[])`;

/** In the caller's transaction. A second event of the same subject and type is ignored. */
export function publishEvent(tx: Db, event: NewEvent): Promise<void> {
  return publishEvents(tx, [event]);
}

/** One statement where no webhook listens. */
export async function publishEvents(tx: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(toRow);
  const given = {
    organizationId: sql`event."organizationId"`,
    environment: sql`event.environment`,
    type: sql`event.type`,
  };
  const stored = {
    organizationId: sql`added.organization_id`,
    environment: sql`added.environment`,
    type: sql`added.type`,
  };
  const deliveries = await tx.rows<NewDelivery>(sql`
    with added as (
      insert into events (id, organization_id, environment, type, subject, data)
      select id, "organizationId", environment, type, subject, data
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as event (
          id text, "organizationId" text, environment text, type text, subject text, data jsonb)
       where type <> all (${giftEventTypes}::text[]) or exists (${listeners(given)})
       order by subject, type
      on conflict (subject, type) do nothing
      returning id, organization_id, environment, type)
    select added.id as "eventId", added.organization_id as "organizationId", webhook.id as "webhookId"
      from added cross join lateral (${listeners(stored)}) as webhook
     order by webhook.id, added.id`);
  await createDeliveries(tx, deliveries);
}

/** For one webhook alone. */
export async function insertTestEvent(tx: Db, event: NewEvent, webhookId: string): Promise<string> {
  const { id, organizationId, environment, type, subject, data } = toRow(event);
  await tx.run(sql`
    insert into events (id, organization_id, environment, type, subject, data)
    values (${id}, ${organizationId}, ${environment}, ${type}, ${subject}, ${JSON.stringify(data)}::jsonb)`);
  await createDeliveries(tx, [{ eventId: id, organizationId, webhookId }]);
  return id;
}

function toRow(event: NewEvent) {
  const id = newId('evt');
  return { ...event, id, subject: event.subject ?? id };
}

interface NewDelivery {
  readonly eventId: string;
  readonly organizationId: string;
  readonly webhookId: string;
}

async function createDeliveries(tx: Db, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const rows = deliveries.map((delivery) => ({ ...delivery, id: newId('dlv') }));
  await tx.run(sql`
    insert into webhook_deliveries (id, webhook_id, event_id)
    select id, "webhookId", "eventId"
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as delivery (id text, "webhookId" text, "eventId" text)`);
  const owners = new Map(deliveries.map(({ webhookId, organizationId }) => [webhookId, organizationId]));
  await enqueueDeliveries(
    tx,
    [...owners].map(([id, organizationId]) => ({ id, organizationId })),
  );
}

type ListEvents = typeof endpoints.listEvents;

interface EventRecord {
  readonly id: string;
  readonly type: EventType;
  readonly data: Record<string, unknown>;
  readonly createdAt: Date;
}

export async function listEvents(db: Reads, caller: Caller, query: Call<ListEvents>['query']): Promise<PageOf<Event>> {
  const page = readPage(query);
  const matching = matches(caller, query);
  const [events, count] = await Promise.all([
    db.rows<EventRecord>(sql`
      select id, type, data, created_at as "createdAt" from events where ${matching}
       order by id desc limit ${page.limit} offset ${page.offset}`),
    db.one<{ total: bigint }>(sql`select count(*) as total from events where ${matching}`),
  ]);
  return toPage(events.map(toEvent), Number(count?.total ?? 0n), page);
}

/** Conditions that are not needed are left out, so that an index can serve the query. */
function matches({ organizationId, environment }: Caller, { type }: Call<ListEvents>['query']): Sql {
  const own = sql`organization_id = ${organizationId} and environment = ${environment}`;
  return type === undefined ? own : sql`${own} and type = ${type}`;
}

function toEvent({ id, type, data, createdAt }: EventRecord): Event {
  return { id, type, timestamp: createdAt.toISOString(), data };
}

const RETENTION_DAYS = 90;
/** Short locks. */
const BATCH = 1_000;
const MAX_BATCHES = 1_000;

const isOld = (column: Sql) => sql`${column} < now() - make_interval(days => ${RETENTION_DAYS})`;

/** Ends deliveries as well that have waited as long at a disabled webhook. */
export async function deleteOldEvents(db: Db, signal?: AbortSignal): Promise<void> {
  const unnamed = (column: Sql, id: Sql) => sql`not exists (select from webhook_deliveries where ${column} = ${id})`;
  const all = [
    sql`delete from webhook_older_secrets where id in (
          select id from webhook_older_secrets where ends_at <= now() limit ${BATCH} for update skip locked)`,
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

export const DELIVER_TASK = 'deliver-webhooks';
/** Days, with an hour between attempts; `requeueStalledWebhooks` starts anew after that. */
const MAX_ATTEMPTS = 100;

export interface OwnedWebhook {
  readonly id: string;
  readonly organizationId: string;
}

export async function enqueueDeliveries(tx: Db, webhooks: readonly OwnedWebhook[], runAt?: Date): Promise<void> {
  const jobs = webhooks.map(({ id, organizationId }) => ({
    task: DELIVER_TASK,
    key: id,
    payload: { id },
    queue: `webhook-${id}`,
    tenant: organizationId,
    maxAttempts: MAX_ATTEMPTS,
    ...(runAt && { runAt }),
  }));
  await enqueueMany(tx, jobs);
}
