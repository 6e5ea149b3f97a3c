import { ApiError, type Environment, type Event, type EventType, type endpoints, giftEventTypes } from '@svc/protocol';
import { type Db, type Reads, runAs, type Sql, sql } from '@svc/store';
import { type Call, type Caller, type PageOf, readPage, Streamed, toPage } from '../http/call.ts';
import { enqueueMany } from '../jobs/job.ts';
import { newId } from '../util/ids.ts';
import { Waiters, type Wakeup } from '../util/wakeup.ts';

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

/** Its messages are what `keyOf` makes. */
export const EVENTS_CHANNEL = 'svc_events';
/** Of an environment, in this process. */
const MAX_STREAMS = 20;
const STREAM_BATCH = 100;
/** Proxies cut connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000;
/** While an older transaction is open: its end sends no notification. */
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = 2_000;
/** Longer than any transaction of the service. Those of others on the database server do not stop a stream for ever. */
const OPEN_SECONDS = 120;
const DEFAULT_SECONDS = 3_600;
/** Before every event that is kept. */
const BEGINNING: Position = { transaction: '0', id: 'evt_0' };

type Stream = Call<typeof endpoints.streamEvents>;

interface Position {
  readonly transaction: string;
  readonly id: string;
}

interface Start extends Position {
  /** The snapshot in which the stream began, where it has nothing of before. Transactions that were open then are after it. */
  readonly seen?: string;
}

const keyOf = ({ organizationId, environment }: Caller) => `${organizationId} ${environment}`;

/** Open streams of this process. Between two events they hold nothing of the database. */
export class EventStreams extends Waiters {
  #isStopped = false;

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Ends all streams. */
  stop(): void {
    this.#isStopped = true;
    this.notifyAll();
  }

  /** Until the connection ends. */
  join(caller: Caller, closed: AbortSignal): Wakeup {
    const place = this.enter(keyOf(caller), MAX_STREAMS);
    if (!place) throw new ApiError('too_many_streams');
    const leave = () => {
      place.leave();
      place.wakeup.notify();
    };
    if (closed.aborted) leave();
    else closed.addEventListener('abort', leave, { once: true });
    return place.wakeup;
  }
}

export async function streamEvents(reads: Reads, streams: EventStreams, call: Stream): Promise<Streamed> {
  const { caller, query, lastEventId, closed = new AbortController().signal } = call;
  const start = await findStart(reads, caller, lastEventId ?? query.after);
  const wakeup = streams.join(caller, closed);
  const endsAt = performance.now() + (query.seconds ?? DEFAULT_SECONDS) * 1_000;
  const isOver = () => closed.aborted || streams.isStopped;
  return new Streamed(follow({ reads, call, start, wakeup, endsAt, isOver }));
}

interface Following {
  readonly reads: Reads;
  readonly call: Stream;
  readonly start: Start;
  readonly wakeup: Wakeup;
  readonly endsAt: number;
  readonly isOver: () => boolean;
}

async function* follow({ reads, call, start, wakeup, endsAt, isOver }: Following): AsyncGenerator<string> {
  const { caller, isStillAllowed = async () => true } = call;
  let position: Position = start;
  let lookMs = FIRST_LOOK_MS;
  let sentAt = performance.now();
  yield `retry: 1000\nid: ${start.id}\n\n`;
  while (!isOver()) {
    const { events, hasMore, isBehind } = await runAs(caller.organizationId, () =>
      readBatch(reads, caller, position, start.seen),
    );
    // A key that was revoked meanwhile gets nothing more.
    if (isOver() || !(await isStillAllowed())) return;
    for (const record of events) yield `id: ${record.id}\ndata: ${JSON.stringify(toEvent(record))}\n\n`;
    position = events.at(-1) ?? position;
    const now = performance.now();
    const isSilent = events.length === 0 && now - sentAt >= HEARTBEAT_MS;
    if (isSilent) yield ':\n\n';
    if (isSilent || events.length > 0) sentAt = now;
    if (hasMore) continue;
    if (now >= endsAt) return;
    lookMs = isBehind ? Math.min(lookMs * 2, LAST_LOOK_MS) : FIRST_LOOK_MS;
    await wakeup.wait(Math.min(endsAt - now, isBehind ? lookMs : HEARTBEAT_MS));
  }
}

/** Unknown, forgotten and other organisations' events answer alike. */
async function findStart(reads: Reads, caller: Caller, after: string | undefined): Promise<Start> {
  if (after === BEGINNING.id) return BEGINNING;
  const own = sql`organization_id = ${caller.organizationId} and environment = ${caller.environment}`;
  if (after === undefined) {
    const found = await reads.one<{ seen: string; transaction: string | null; id: string | null }>(sql`
      select pg_current_snapshot()::text as seen, last.transaction::text as transaction, last.id
        from (values (1)) as always left join lateral (
          select transaction, id from events
           where ${own} and transaction < pg_snapshot_xmin(pg_current_snapshot())
           order by transaction desc, id desc limit 1) as last on true`);
    const { seen, transaction, id } = found ?? {};
    return { ...(transaction && id ? { transaction, id } : BEGINNING), ...(seen && { seen }) };
  }
  const found = await reads.one<Position>(sql`
    select transaction::text as transaction, id from events where id = ${after} and ${own}`);
  if (!found) throw new ApiError('event_not_found');
  return found;
}

interface StoredEvent extends EventRecord, Position {
  readonly isFinal: boolean;
}

/** `isBehind`: there are more, which wait for an older transaction that may add some before them. */
async function readBatch(reads: Reads, caller: Caller, { transaction, id }: Position, seen: string | undefined) {
  const isNew = seen === undefined ? sql`` : sql`and not pg_visible_in_snapshot(transaction, ${seen}::pg_snapshot)`;
  const rows = await reads.rows<StoredEvent>(sql`
    select id, type, data, created_at as "createdAt", transaction::text as transaction,
           transaction < pg_snapshot_xmin(pg_current_snapshot())
             or created_at < now() - make_interval(secs => ${OPEN_SECONDS}) as "isFinal"
      from events
     where organization_id = ${caller.organizationId} and environment = ${caller.environment}
       and (transaction, id) > (${transaction}::xid8, ${id}) ${isNew}
     order by events.transaction, id limit ${STREAM_BATCH}`);
  const firstOpen = rows.findIndex(({ isFinal }) => !isFinal);
  const events = firstOpen < 0 ? rows : rows.slice(0, firstOpen);
  return { events, hasMore: events.length === STREAM_BATCH, isBehind: events.length < rows.length };
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
