import type { Environment } from '@svc/protocol';
import { type Database, type Db, type Sql, sql } from '@svc/store';
import type { JobContext, JobLog } from '../jobs/job.ts';
import { queueNotification } from '../mail/mail.ts';
import type { AddressGuard } from '../outbound/address-guard.ts';
import { type Attempt, type AttemptDeps, type AttemptRecord, attempt, type DueDelivery } from './delivery-attempt.ts';
import { DELIVER_TASK, enqueueDeliveries, type OwnedWebhook } from './events.ts';

export interface DeliveryDeps extends Omit<AttemptDeps, 'guard'> {
  readonly guard: (environment: Environment) => AddressGuard;
  readonly db: Database;
  readonly log: JobLog;
}

/** Concurrent requests to one receiver. */
export const MAX_IN_FLIGHT = 4;
/** Then other webhooks have their turn. */
const TURN_MS = 30_000;
const POLL_MS = 1_000;

/** A timeout ends the webhook's turn. Attempts are stored after they were made: after a crash they are repeated. */
export async function deliverDue(
  deps: DeliveryDeps,
  webhookId: string,
  { signal }: Pick<JobContext, 'signal'>,
): Promise<void> {
  await sendDue(deps, webhookId, signal);
  // Another worker takes the job over.
  signal.throwIfAborted();
  const { db } = deps;
  const next = await findNextDue(db, webhookId);
  if (!next?.waits) return;
  if (next.isDeleted) await endDeletedDeliveries(db, webhookId);
  // At the end of the queue, so that a webhook with many deliveries is not always first.
  else if (!next.isDisabled) {
    await enqueueDeliveries(db, [{ id: webhookId, organizationId: next.organizationId }], next.laterAt ?? undefined);
  }
}

async function sendDue(deps: DeliveryDeps, webhookId: string, signal: AbortSignal): Promise<void> {
  const { db, log } = deps;
  const endsAt = performance.now() + TURN_MS;
  const inFlight = new Map<string, Promise<void>>();
  let failure: unknown;
  let isOver = false;

  const send = async (delivery: WaitingDelivery) => {
    const outcome = await attempt({ ...deps, guard: deps.guard(delivery.environment) }, delivery, signal);
    await storeAttempt(db, delivery, outcome);
    const { status, error, durationMs } = outcome.made;
    const about = { webhookId, deliveryId: delivery.id, attempt: delivery.attempts + 1, status, durationMs };
    if (error !== null) log.info({ ...about, state: outcome.result.state }, 'webhook not delivered');
    isOver ||= outcome.timedOut;
  };
  const start = (delivery: WaitingDelivery) => {
    const sending = send(delivery)
      .catch((error: unknown) => {
        failure ??= error;
        isOver = true;
      })
      .finally(() => inFlight.delete(delivery.id));
    inFlight.set(delivery.id, sending);
  };
  while (!isOver && !signal.aborted && performance.now() < endsAt) {
    const free = MAX_IN_FLIGHT - inFlight.size;
    const due = free > 0 ? await findDue(db, webhookId, { except: [...inFlight.keys()], limit: free }) : [];
    for (const delivery of due) start(delivery);
    if (inFlight.size === 0) break;
    await anyEnded(inFlight, POLL_MS);
  }
  await Promise.all(inFlight.values());
  if (failure !== undefined) throw failure;
}

async function anyEnded(inFlight: ReadonlyMap<string, Promise<void>>, ms: number): Promise<void> {
  const time = Promise.withResolvers<void>();
  const timer = setTimeout(time.resolve, ms);
  await Promise.race([...inFlight.values(), time.promise]);
  clearTimeout(timer);
}

export interface WaitingDelivery extends DueDelivery {
  readonly environment: Environment;
}

export function findDue(
  db: Db,
  webhookId: string,
  { except, limit }: { readonly except: readonly string[]; readonly limit: number },
): Promise<WaitingDelivery[]> {
  return db.rows<WaitingDelivery>(sql`
    select delivery.id, webhook.environment, delivery.webhook_id as "webhookId", delivery.attempts, webhook.url,
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
  readonly organizationId: string;
  readonly isDeleted: boolean;
  readonly isDisabled: boolean;
  readonly waits: boolean;
  /** By the database's clock; null where it is due now. */
  readonly laterAt: Date | null;
}

export function findNextDue(db: Db, webhookId: string): Promise<NextDue | undefined> {
  return db.one<NextDue>(sql`
    select organization_id as "organizationId", deleted_at is not null as "isDeleted", disabled_reason is not null as "isDisabled", next_at is not null as waits,
           case when next_at > now() then next_at end as "laterAt"
      from webhooks
      left join lateral (
        select min(next_attempt_at) as next_at from webhook_deliveries
         where webhook_id = webhooks.id and state = 'WAITING') as deliveries on true
     where id = ${webhookId}`);
}

/** A repeated result changes nothing. A result of an address that the webhook has left does not count against the new one. */
export async function storeAttempt(db: Database, delivery: DueDelivery, { made, result }: Attempt): Promise<void> {
  if (result.state === 'DELIVERED') {
    await insertAttempt(db, delivery, made, ended('DELIVERED'), HEALTHY);
    return;
  }
  if (result.state === 'WAITING') {
    const pauseSeconds = result.delayMs / 1_000;
    const hasMoved = sql`${delivery.url} <> (select url from webhooks where id = webhook_id)`;
    const pause = sql`make_interval(secs => case when ${hasMoved} then 0 else ${pauseSeconds}::float8 end)`;
    await insertAttempt(db, delivery, made, sql`next_attempt_at = clock_timestamp() + ${pause}`, failing(made));
    return;
  }
  await db.tx(async (tx) => {
    if (await lockMoved(tx, delivery)) {
      await insertAttempt(tx, delivery, made, sql`next_attempt_at = clock_timestamp()`, failing(made));
      return;
    }
    if (!(await insertAttempt(tx, delivery, made, ended('FAILED'), failing(made)))) return;
    if (result.cause === 'GONE') await disableGone(tx, delivery);
    else await disableFailing(tx, delivery);
  });
}

/** Locks the webhook, so that its address stays. */
async function lockMoved(tx: Db, { id, webhookId, url }: DueDelivery): Promise<boolean> {
  await tx.run(sql`select from webhook_deliveries where id = ${id} for no key update`);
  const now = await tx.one<{ url: string }>(sql`select url from webhooks where id = ${webhookId} for no key update`);
  return now !== undefined && now.url !== url;
}

const ended = (state: 'DELIVERED' | 'FAILED') =>
  sql`state = ${state}, next_attempt_at = null, ended_at = clock_timestamp()`;

/** Written only where it changes: all deliveries share the webhook's row. */
interface Health {
  readonly set: Sql;
  readonly where: Sql;
}
const HEALTHY: Health = { set: sql`failing_since = null`, where: sql`failing_since is not null` };
const failing = ({ at }: AttemptRecord): Health => ({
  set: sql`failing_since = ${at}`,
  where: sql`failing_since is null`,
});

/** False where the delivery has gone on without this attempt. Locks deliveries before their webhook, as everywhere. */
async function insertAttempt(
  db: Db,
  { id, webhookId, attempts, url }: DueDelivery,
  made: AttemptRecord,
  change: Sql,
  health: Health,
): Promise<boolean> {
  const stored = await db.rows(sql`
    with changed as (
      update webhook_deliveries set attempts = attempts + 1, ${change}
       where id = ${id} and state = 'WAITING' and attempts = ${attempts}
      returning id, attempts
    ), inserted as (
      insert into webhook_attempts (delivery_id, number, at, duration_ms, status, error, response)
      select id, attempts, ${made.at}, ${made.durationMs}, ${made.status}, ${made.error}, ${made.response} from changed
    ), health as (
      update webhooks set ${health.set}
       where id = ${webhookId} and url = ${url} and ${health.where} and exists (select from changed)
    )
    select from changed`);
  return stored.length === 1;
}

export async function disableGone(tx: Db, { webhookId }: DueDelivery): Promise<void> {
  await tx.run(sql`
    update webhooks set disabled_reason = 'GONE', updated_at = now()
     where id = ${webhookId} and disabled_reason is null and deleted_at is null`);
}

interface Disabled {
  readonly organizationId: string;
  readonly environment: 'production' | 'development';
  readonly url: string;
  readonly failingSince: Date;
  readonly recipient: string | null;
}

/** After a delivery's last attempt, where nothing was delivered since its first. */
export async function disableFailing(tx: Db, { id, webhookId }: DueDelivery): Promise<void> {
  const disabled = await tx.one<Disabled>(sql`
    update webhooks set disabled_reason = 'FAILING', updated_at = now()
      from environments as home
     where webhooks.id = ${webhookId} and disabled_reason is null and deleted_at is null
       and failing_since <= (select at from webhook_attempts where delivery_id = ${id} and number = 1)
       and home.organization_id = webhooks.organization_id and home.environment = webhooks.environment
    returning webhooks.organization_id as "organizationId", webhooks.environment, url,
              failing_since as "failingSince", home.notification_email as recipient`);
  if (!disabled || disabled.recipient === null) return;
  const { organizationId, environment, url, failingSince, recipient } = disabled;
  // Without path and query, which may contain secrets.
  const content = { webhookId, host: new URL(url).host, failingSince: failingSince.toISOString() };
  await queueNotification(tx, { organizationId, environment, recipient, template: 'webhook-disabled', content });
}

/** Short locks. */
const BATCH = 1_000;
const MAX_BATCHES = 1_000;

export async function endDeletedDeliveries(db: Db, webhookId: string): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const changed = await db.run(sql`
      update webhook_deliveries set state = 'FAILED', next_attempt_at = null, ended_at = now()
       where state = 'WAITING' and id in (
         select id from webhook_deliveries where webhook_id = ${webhookId} and state = 'WAITING' limit ${BATCH})`);
    if (changed < BATCH) return;
  }
}

const MAX_REQUEUED = 500;

/** Covers jobs that failed for good, as after days without a database. */
export async function requeueStalledWebhooks(db: Db): Promise<void> {
  const stalled = await db.rows<OwnedWebhook>(sql`
    select id, organization_id as "organizationId" from webhooks
     where (disabled_reason is null or deleted_at is not null)
       and exists (select from webhook_deliveries
                    where webhook_id = webhooks.id and state = 'WAITING' and next_attempt_at <= now())
       and not exists (select from jobs where task = ${DELIVER_TASK} and key = webhooks.id and failed_at is null)
     limit ${MAX_REQUEUED}`);
  await enqueueDeliveries(db, stalled);
}
