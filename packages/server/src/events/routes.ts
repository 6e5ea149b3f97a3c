import type { Handlers } from '../http/call.ts';
import { getDelivery, listDeliveries } from './deliveries/read.ts';
import { replayWebhook } from './deliveries/replay.ts';
import { testWebhook } from './deliveries/test-webhook.ts';
import { listEvents } from './list-events.ts';
import type { WebhookParts } from './parts.ts';
import { createWebhook } from './webhooks/create.ts';
import { deleteWebhook } from './webhooks/delete.ts';
import { getWebhook, listWebhooks } from './webhooks/read.ts';
import { rotateWebhookSecret } from './webhooks/rotate-secret.ts';
import { updateWebhook } from './webhooks/update.ts';

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
export function webhookHandlers(parts: WebhookParts): Pick<Handlers, WebhookOperation> {
  const { db } = parts;
  return {
    createWebhook: (call) => createWebhook(parts, call),
    listWebhooks: ({ caller, query }) => listWebhooks(db, caller, query),
    getWebhook: ({ caller, params }) => getWebhook(db.reads, caller, params.id),
    updateWebhook: (call) => updateWebhook(parts, call),
    deleteWebhook: (call) => deleteWebhook(call),
    rotateWebhookSecret: (call) => rotateWebhookSecret(call),
    testWebhook: (call) => testWebhook(call),
    replayWebhook: (call) => replayWebhook(call),
    listDeliveries: ({ caller, params, query }) => listDeliveries(db, caller, params.id, query),
    getDelivery: ({ caller, params }) => getDelivery(db.reads, caller, params),
    listEvents: ({ caller, query }) => listEvents(db, caller, query),
  };
}
