import { endpoint } from '../endpoint.ts';
import { Success } from '../schemas/common.ts';
import * as schema from '../schemas/webhook.ts';

const tag = 'Webhooks';

export const createWebhook = endpoint({
  operationId: 'createWebhook',
  method: 'POST',
  path: '/organization/webhooks',
  tag,
  summary: 'Have events sent to an address',
  description:
    'Webhooks follow the Standard Webhooks specification. They come at least once and in no particular order.',
  access: 'secret',
  body: schema.CreateWebhook,
  shownOnce: ['secret'],
  answers: { 201: schema.WebhookWithSecret },
  errors: ['invalid_request', 'invalid_webhook_url', 'webhook_limit_reached'],
});

export const listWebhooks = endpoint({
  operationId: 'listWebhooks',
  method: 'GET',
  path: '/organization/webhooks',
  tag,
  summary: 'List your webhooks, newest first',
  access: 'secret',
  query: schema.WebhookQuery,
  answers: { 200: schema.WebhookPage },
  errors: ['invalid_request'],
});

export const getWebhook = endpoint({
  operationId: 'getWebhook',
  method: 'GET',
  path: '/organization/webhooks/{id}',
  tag,
  summary: 'Read a webhook',
  access: 'secret',
  params: schema.WebhookParams,
  answers: { 200: schema.Webhook },
  errors: ['webhook_not_found'],
});

export const updateWebhook = endpoint({
  operationId: 'updateWebhook',
  method: 'PATCH',
  path: '/organization/webhooks/{id}',
  tag,
  summary: 'Change a webhook, or switch it off and on',
  description: 'What happened while it was off is not sent by itself; replay it.',
  access: 'secret',
  params: schema.WebhookParams,
  body: schema.UpdateWebhook,
  answers: { 200: schema.Webhook },
  errors: ['invalid_request', 'invalid_webhook_url', 'webhook_not_found'],
});

export const deleteWebhook = endpoint({
  operationId: 'deleteWebhook',
  method: 'DELETE',
  path: '/organization/webhooks/{id}',
  tag,
  summary: 'Delete a webhook; nothing more is sent to it',
  access: 'secret',
  params: schema.WebhookParams,
  answers: { 200: Success },
  errors: ['webhook_not_found'],
});

export const rotateWebhookSecret = endpoint({
  operationId: 'rotateWebhookSecret',
  method: 'POST',
  path: '/organization/webhooks/{id}/rotate-secret',
  tag,
  summary: 'Give a webhook a new secret',
  description: 'For a while webhooks are signed with both secrets, so that none is lost.',
  access: 'secret',
  params: schema.WebhookParams,
  body: schema.RotateSecret,
  shownOnce: ['secret'],
  answers: { 200: schema.WebhookWithSecret },
  errors: ['invalid_request', 'webhook_not_found'],
});

export const testWebhook = endpoint({
  operationId: 'testWebhook',
  method: 'POST',
  path: '/organization/webhooks/{id}/test',
  tag,
  summary: 'Send a webhook.test event to this webhook alone',
  access: 'secret',
  params: schema.WebhookParams,
  answers: { 200: schema.Delivery },
  errors: ['webhook_not_found', 'webhook_disabled'],
});

export const replayWebhook = endpoint({
  operationId: 'replayWebhook',
  method: 'POST',
  path: '/organization/webhooks/{id}/replay',
  tag,
  summary: 'Deliver one event, or all events of a time, again',
  access: 'secret',
  params: schema.WebhookParams,
  body: schema.ReplayEvents,
  answers: { 200: schema.ReplayedEvents },
  errors: ['invalid_request', 'webhook_not_found', 'event_not_found', 'webhook_disabled'],
});

export const listDeliveries = endpoint({
  operationId: 'listDeliveries',
  method: 'GET',
  path: '/organization/webhooks/{id}/deliveries',
  tag,
  summary: 'List the deliveries of a webhook, newest first',
  access: 'secret',
  params: schema.WebhookParams,
  query: schema.DeliveryQuery,
  answers: { 200: schema.DeliveryPage },
  errors: ['invalid_request', 'webhook_not_found'],
});

export const getDelivery = endpoint({
  operationId: 'getDelivery',
  method: 'GET',
  path: '/organization/webhooks/{id}/deliveries/{deliveryId}',
  tag,
  summary: 'Read a delivery, its event and every attempt of it',
  access: 'secret',
  params: schema.DeliveryParams,
  answers: { 200: schema.DeliveryWithAttempts },
  errors: ['webhook_not_found', 'delivery_not_found'],
});

export const listEvents = endpoint({
  operationId: 'listEvents',
  method: 'GET',
  path: '/organization/events',
  tag,
  summary: 'List what happened, newest first',
  access: 'secret',
  query: schema.EventQuery,
  answers: { 200: schema.EventPage },
  errors: ['invalid_request'],
});

export const streamEvents = endpoint({
  operationId: 'streamEvents',
  method: 'GET',
  path: '/organization/events/stream',
  tag,
  summary: 'Follow what happens, as server-sent events',
  description:
    'Each event is sent once, in the order in which it was stored. After a cut, repeat the request with the last `id` as Last-Event-ID, as EventSource does by itself: nothing is lost and nothing comes twice. An environment has at most 20 streams for each process of the service.',
  access: 'secret',
  query: schema.EventStreamQuery,
  stream: true,
  answers: { 200: schema.EventStream },
  errors: ['event_not_found', 'too_many_streams'],
});
