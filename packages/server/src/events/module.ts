import type { Environment } from '@svc/protocol';
import { type Database, type Reads, type Sql, sql } from '@svc/store';
import type { Handlers } from '../http/call.ts';
import { type Jobs, type Module, queryGauge } from '../http/module.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import type { JobLog } from '../jobs/job.ts';
import { guardOfTenants } from '../outbound/address-guard.ts';
import { getDelivery, listDeliveries, replayWebhook, testWebhook } from './deliveries.ts';
import { createLookup } from './delivery-attempt.ts';
import { deliverDue, requeueStalledWebhooks } from './delivery-worker.ts';
import { DELIVER_TASK, deleteOldEvents, type EventStreams, listEvents, streamEvents } from './events.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookDeps,
} from './webhooks.ts';

type WebhookOperation =
  | 'createWebhook'
  | 'listWebhooks'
  | 'getWebhook'
  | 'updateWebhook'
  | 'deleteWebhook'
  | 'rotateWebhookSecret'
  | 'testWebhook'
  | 'replayWebhook'
  | 'listDeliveries'
  | 'getDelivery'
  | 'listEvents'
  | 'streamEvents';

export interface EventModuleDeps extends WebhookDeps {
  readonly streams: EventStreams;
}

export function create(deps: EventModuleDeps): Module<WebhookOperation> {
  return { handlers: handlers(deps), jobs: [webhookJobs(deps.db)], gauges: webhookGauges(deps.db.lists) };
}

function handlers(deps: EventModuleDeps): Pick<Handlers, WebhookOperation> {
  const { db } = deps;
  return {
    createWebhook: (call) => createWebhook(deps, call),
    listWebhooks: ({ caller, query }) => listWebhooks(db.lists, caller, query),
    getWebhook: ({ caller, params }) => getWebhook(db.reads, caller, params.id),
    updateWebhook: (call) => updateWebhook(deps, call),
    deleteWebhook: (call) => deleteWebhook(call),
    rotateWebhookSecret: (call) => rotateWebhookSecret(call),
    testWebhook: (call) => testWebhook(call),
    replayWebhook: (call) => replayWebhook(call),
    listDeliveries: ({ caller, params, query }) => listDeliveries(db.lists, caller, params.id, query),
    getDelivery: ({ caller, params }) => getDelivery(db.reads, caller, params),
    listEvents: ({ caller, query }) => listEvents(db.lists, caller, query),
    streamEvents: (call) => streamEvents(db.reads, deps.streams, call),
  };
}

const LOOK_TASK = 'look-after-webhooks';
const FORGET_TASK = 'forget-old-events';

function webhookJobs(db: Database): Jobs {
  return {
    handlers: {
      [LOOK_TASK]: () => requeueStalledWebhooks(db),
      [FORGET_TASK]: (_: unknown, { signal }) => deleteOldEvents(db, signal),
    },
    recurring: [
      { task: LOOK_TASK, everySeconds: 60 },
      { task: FORGET_TASK, everySeconds: 3_600 },
    ],
  };
}

/** For workers of their own: receivers are slow, and jobs that move money must not wait for them. */
export function deliveryJobs(deps: {
  readonly db: Database;
  readonly log: JobLog;
  readonly loopbackEnvironments: readonly Environment[];
}): Jobs {
  const guard = guardOfTenants(deps.loopbackEnvironments, createLookup());
  return {
    handlers: { [DELIVER_TASK]: ({ id }: { id: string }, context) => deliverDue({ ...deps, guard }, id, context) },
    recurring: [],
  };
}

export interface DeliveryBacklog {
  readonly enabled: number;
  /** By the service, because their receiver failed. */
  readonly disabled: number;
  readonly oldestDueSeconds: number;
}

/** Of the whole deployment. */
export async function deliveryBacklog(reads: Reads): Promise<DeliveryBacklog> {
  const row = await reads.one<DeliveryBacklog>(sql`
    select count(*) filter (where disabled_reason is null)::integer as enabled,
           count(*) filter (where disabled_reason in ('GONE', 'FAILING'))::integer as disabled,
           coalesce((
             select extract(epoch from now() - min(next_attempt_at))
               from webhooks as own join webhook_deliveries on webhook_id = own.id
              where state = 'WAITING' and next_attempt_at <= now()
                and own.disabled_reason is null and own.deleted_at is null), 0)::float8 as "oldestDueSeconds"
      from webhooks where deleted_at is null`);
  if (!row) throw new Error('The database does not count webhooks.');
  return row;
}

export function webhookGauges(reads: Reads): GaugeSource[] {
  const due = (value: Sql) => sql`
    select environment, ${value} as value
      from webhooks join webhook_deliveries on webhook_id = webhooks.id
     where state = 'WAITING' and next_attempt_at <= now() and disabled_reason is null and deleted_at is null
     group by environment`;
  return [
    queryGauge(
      reads,
      {
        name: 'svc_webhook_deliveries_due',
        help: 'Deliveries to webhooks that are due and not sent yet',
        labelNames: ['environment'],
      },
      due(sql`count(*)::integer`),
    ),
    queryGauge(
      reads,
      {
        name: 'svc_webhook_deliveries_oldest_due_seconds',
        help: 'For how long the oldest of them has been due',
        labelNames: ['environment'],
      },
      due(sql`extract(epoch from now() - min(next_attempt_at))::float8`),
    ),
    queryGauge(
      reads,
      {
        name: 'svc_webhooks_disabled',
        help: 'Webhooks that are switched off, by reason',
        labelNames: ['environment', 'reason'],
      },
      sql`select environment, disabled_reason as reason, count(*)::integer as value from webhooks
           where disabled_reason is not null and deleted_at is null
           group by environment, disabled_reason`,
    ),
  ];
}
