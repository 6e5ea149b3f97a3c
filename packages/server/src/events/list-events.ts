import type { Event, EventType, endpoints } from '@svc/protocol';
import { type Db, type Sql, sql } from '@svc/store';
import type { Call } from '../http/call.ts';
import type { Caller } from '../http/caller.ts';
import { type PageOf, readPage, toPage } from '../http/pages.ts';

type ListEvents = typeof endpoints.listEvents;

interface EventRecord {
  readonly id: string;
  readonly type: EventType;
  readonly data: Record<string, unknown>;
  readonly createdAt: Date;
}

/** Newest first. */
export async function listEvents(db: Db, caller: Caller, query: Call<ListEvents>['query']): Promise<PageOf<Event>> {
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

/** Only what is asked for is named, so that an index can serve it. */
function matches({ organizationId, environment }: Caller, { type }: Call<ListEvents>['query']): Sql {
  const own = sql`organization_id = ${organizationId} and environment = ${environment}`;
  return type === undefined ? own : sql`${own} and type = ${type}`;
}

function toEvent({ id, type, data, createdAt }: EventRecord): Event {
  return { id, type, timestamp: createdAt.toISOString(), data };
}
