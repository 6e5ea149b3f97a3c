import type { Environment, Event, EventType, endpoints } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { type Call, type Caller, type PageOf, readPage, toPage } from '../http/call.ts';
import { enqueueMany } from '../jobs/job.ts';
import { newId } from '../util/ids.ts';

export interface NewEvent {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly type: EventType;
  /** One event of a type for each subject, such as a purchase's id. */
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** In the caller's transaction. A second event of the same subject and type is ignored. */
export async function publishEvent(tx: Db, event: NewEvent): Promise<void> {
  const { organizationId, environment, type } = event;
  const id = newId('evt');
  if (!(await insertEvent(tx, id, event))) return;
  const webhooks = await tx.rows<{ id: string }>(sql`
    select id from webhooks
     where organization_id = ${organizationId} and environment = ${environment}
       and deleted_at is null and disabled_reason is null and (event_types is null or ${type} = any (event_types))
     order by id`);
  await createDeliveries(
    tx,
    id,
    webhooks.map((webhook) => webhook.id),
  );
}

export async function insertEvent(tx: Db, id: string, event: NewEvent): Promise<boolean> {
  const added = await tx.run(sql`
    insert into events (id, organization_id, environment, type, subject, data)
    values (${id}, ${event.organizationId}, ${event.environment}, ${event.type}, ${event.subject},
            ${JSON.stringify(event.data)}::jsonb)
    on conflict (subject, type) do nothing`);
  return added === 1;
}

export async function createDeliveries(tx: Db, eventId: string, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  const ids = webhookIds.map(() => newId('dlv'));
  await tx.run(sql`
    insert into webhook_deliveries (id, webhook_id, event_id)
    select id, webhook_id, ${eventId}
      from unnest(${ids}::text[], ${webhookIds}::text[]) as delivery (id, webhook_id)`);
  await enqueueDeliveries(tx, webhookIds);
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

export async function enqueueDeliveries(tx: Db, webhookIds: readonly string[], runAt?: Date): Promise<void> {
  const jobs = webhookIds.map((id) => ({
    task: DELIVER_TASK,
    key: id,
    payload: { id },
    queue: `webhook-${id}`,
    maxAttempts: MAX_ATTEMPTS,
    ...(runAt && { runAt }),
  }));
  await enqueueMany(tx, jobs);
}
