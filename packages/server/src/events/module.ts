import { type Database, type Reads, sql } from '@svc/store';
import type { Handlers } from '../http/call.ts';
import type { JobHandlers, JobLog, RecurringJob } from '../jobs/job.ts';
import { publicOnly } from '../outbound/address-guard.ts';
import { getDelivery, listDeliveries, replayWebhook, testWebhook } from './deliveries.ts';
import { createLookup } from './delivery-attempt.ts';
import { deliverDue, lookAfterWebhooks } from './delivery-worker.ts';
import { forgetOldEvents, listEvents, PUMP_TASK } from './events.ts';
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
  | 'listEvents';

/** What an organisation does with its webhooks. */
export function webhookHandlers(deps: WebhookDeps): Pick<Handlers, WebhookOperation> {
  const { db } = deps;
  return {
    createWebhook: (call) => createWebhook(deps, call),
    listWebhooks: ({ caller, query }) => listWebhooks(db, caller, query),
    getWebhook: ({ caller, params }) => getWebhook(db.reads, caller, params.id),
    updateWebhook: (call) => updateWebhook(deps, call),
    deleteWebhook: (call) => deleteWebhook(call),
    rotateWebhookSecret: (call) => rotateWebhookSecret(call),
    testWebhook: (call) => testWebhook(call),
    replayWebhook: (call) => replayWebhook(call),
    listDeliveries: ({ caller, params, query }) => listDeliveries(db, caller, params.id, query),
    getDelivery: ({ caller, params }) => getDelivery(db.reads, caller, params),
    listEvents: ({ caller, query }) => listEvents(db, caller, query),
  };
}

const LOOK_TASK = 'look-after-webhooks';
const FORGET_TASK = 'forget-old-events';

interface Jobs {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
}

/** Short work on the database. */
export function webhookJobs(db: Database): Jobs {
  return {
    handlers: {
      [LOOK_TASK]: () => lookAfterWebhooks(db),
      [FORGET_TASK]: (_: unknown, { signal }) => forgetOldEvents(db, signal),
    },
    recurring: [
      { task: LOOK_TASK, everySeconds: 60 },
      { task: FORGET_TASK, everySeconds: 3_600 },
    ],
  };
}

/** Sending, which waits for other people's machines: for workers of its own, so that nothing that moves money waits with it. */
export function deliveryJobs(deps: {
  readonly db: Database;
  readonly log: JobLog;
  /** Whether webhooks may lead to this machine. */
  readonly allowLoopback: boolean;
}): Jobs {
  const guard = publicOnly({ allowLoopback: deps.allowLoopback, lookup: createLookup() });
  return {
    handlers: { [PUMP_TASK]: ({ id }: { id: string }, context) => deliverDue({ ...deps, guard }, id, context) },
    recurring: [],
  };
}

interface Row {
  readonly environment: string;
  readonly due: number;
  readonly oldestSeconds: number;
}

interface DisabledRow {
  readonly environment: string;
  readonly reason: string;
  readonly webhooks: number;
}

/** What an operator sets an alarm on: deliveries that are due and not sent; and which webhooks were switched off, and why. */
export function webhookGauges(reads: Reads) {
  return [
    {
      name: 'svc_webhook_deliveries_due',
      help: 'Deliveries to webhooks that are due and not sent yet',
      labelNames: ['environment'],
      read: async () => (await dueOf(reads)).map(({ environment, due }) => ({ labels: { environment }, value: due })),
    },
    {
      name: 'svc_webhook_deliveries_oldest_due_seconds',
      help: 'For how long the oldest of them has been due',
      labelNames: ['environment'],
      read: async () =>
        (await dueOf(reads)).map(({ environment, oldestSeconds }) => ({
          labels: { environment },
          value: oldestSeconds,
        })),
    },
    {
      name: 'svc_webhooks_disabled',
      help: 'Webhooks that are switched off, by reason',
      labelNames: ['environment', 'reason'],
      read: async () =>
        (await disabledOf(reads)).map(({ environment, reason, webhooks }) => ({
          labels: { environment, reason },
          value: webhooks,
        })),
    },
  ];
}

function dueOf(reads: Reads): Promise<Row[]> {
  return reads.rows<Row>(sql`
    select environment, count(*)::integer as due,
           extract(epoch from now() - min(next_attempt_at))::float8 as "oldestSeconds"
      from webhooks join webhook_deliveries on webhook_id = webhooks.id
     where state = 'WAITING' and next_attempt_at <= now() and disabled_reason is null and deleted_at is null
     group by environment`);
}

function disabledOf(reads: Reads): Promise<DisabledRow[]> {
  return reads.rows<DisabledRow>(sql`
    select environment, disabled_reason as reason, count(*)::integer as webhooks from webhooks
     where disabled_reason is not null and deleted_at is null
     group by environment, disabled_reason`);
}
