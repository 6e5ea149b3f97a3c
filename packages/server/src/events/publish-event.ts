import type { Environment, EventType } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { newId } from '../ids.ts';
import { enqueuePumps } from './pump-job.ts';

export interface NewEvent {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly type: EventType;
  /** What it is about, such as the id of a purchase: one event of a type for each. */
  readonly subject: string;
  /** What receivers get as `data`. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Stores an event and its deliveries with everything else that the transaction stores. A second of its subject and type is nothing. */
export async function publishEvent(tx: Db, event: NewEvent): Promise<void> {
  const { organizationId, environment, type } = event;
  const id = newId('evt');
  if (!(await insertEvent(tx, id, event))) return;
  const webhooks = await tx.rows<{ id: string }>(sql`
    select id from webhooks
     where organization_id = ${organizationId} and environment = ${environment}
       and deleted_at is null and disabled_reason is null and (event_types is null or ${type} = any (event_types))
     order by id`);
  await deliverTo(
    tx,
    id,
    webhooks.map((webhook) => webhook.id),
  );
}

/** False when there is one of its subject and type. */
export async function insertEvent(tx: Db, id: string, event: NewEvent): Promise<boolean> {
  const added = await tx.run(sql`
    insert into events (id, organization_id, environment, type, subject, data)
    values (${id}, ${event.organizationId}, ${event.environment}, ${event.type}, ${event.subject},
            ${JSON.stringify(event.data)}::jsonb)
    on conflict (subject, type) do nothing`);
  return added === 1;
}

/** Sends an event on its way to webhooks. */
export async function deliverTo(tx: Db, eventId: string, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  const ids = webhookIds.map(() => newId('dlv'));
  await tx.run(sql`
    insert into webhook_deliveries (id, webhook_id, event_id)
    select id, webhook_id, ${eventId}
      from unnest(${ids}::text[], ${webhookIds}::text[]) as delivery (id, webhook_id)`);
  await enqueuePumps(tx, webhookIds);
}
