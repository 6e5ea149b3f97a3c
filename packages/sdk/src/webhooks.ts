import type { AnswerOf, Delivery, DeliveryState, Event, EventType, endpoints, Webhook } from '@svc/protocol';
import type { Client } from './client/client.ts';
import { SvcInputError } from './client/errors.ts';
import { eachItem, type List, type Page, type PageOptions, toList } from './client/pages.ts';
import { request } from './client/request.ts';

export interface CreateWebhookParams {
  /** A public https address. */
  readonly url: string;
  readonly description?: string | null | undefined;
  /** null, the default: all. */
  readonly eventTypes?: EventType[] | null | undefined;
}

/** `secret` is what `verifyWebhook` wants, in this one answer. */
export type WebhookWithSecret = AnswerOf<typeof endpoints.createWebhook>;

/**
 * Has events sent to an address of yours. Should the answer get lost on the way, `secret` is null: rotate it. On a
 * server only: needs the secret key.
 *
 * @example
 * const { id, secret } = await svc.webhooks.createWebhook({ url: 'https://app.tienda.example/webhooks' });
 */
export function createWebhook(client: Client, params: CreateWebhookParams): Promise<WebhookWithSecret> {
  const { url, description, eventTypes } = params;
  return request<typeof endpoints.createWebhook>(client, {
    route: 'POST /organization/webhooks',
    access: 'secret',
    body: { url, description, eventTypes },
  });
}

export interface ListWebhooksParams {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of your webhooks, newest first. On a server only: needs the secret key. `webhooks` goes through all
 * pages.
 *
 * @example
 * const { items } = await svc.webhooks.listWebhooks();
 */
export async function listWebhooks(client: Client, params: ListWebhooksParams = {}): Promise<List<Webhook>> {
  return toList(await readWebhookPage(client, params));
}

/**
 * Goes through your webhooks, newest first, page after page. On a server only: needs the secret key.
 *
 * @example
 * for await (const { url, isEnabled } of svc.webhooks.webhooks()) console.log(url, isEnabled);
 */
export function webhooks(client: Client, params: PageOptions = {}): AsyncGenerator<Webhook, void, undefined> {
  return eachItem((asked) => readWebhookPage(client, asked), params);
}

export interface GetWebhookParams {
  readonly id: string;
}

/**
 * Reads a webhook. On a server only: needs the secret key.
 *
 * @example
 * const { url, isEnabled, disabledReason } = await svc.webhooks.getWebhook({ id: webhook.id });
 */
export function getWebhook(client: Client, { id }: GetWebhookParams): Promise<Webhook> {
  return request<typeof endpoints.getWebhook>(client, {
    route: 'GET /organization/webhooks/{id}',
    access: 'secret',
    params: { id },
  });
}

export interface UpdateWebhookParams {
  readonly id: string;
  readonly url?: string | undefined;
  readonly description?: string | null | undefined;
  /** null: all. */
  readonly eventTypes?: EventType[] | null | undefined;
  readonly isEnabled?: boolean | undefined;
}

/**
 * Changes a webhook, or switches it off and on. What happened while it was off is not sent by itself: replay it. On a
 * server only: needs the secret key.
 *
 * @example
 * await svc.webhooks.updateWebhook({ id: webhook.id, eventTypes: ['sku-purchase.completed', 'sku-purchase.failed'] });
 */
export async function updateWebhook(client: Client, params: UpdateWebhookParams): Promise<Webhook> {
  const { id, url, description, eventTypes, isEnabled } = params;
  const body = { url, description, eventTypes, isEnabled };
  if (Object.values(body).every((value) => value === undefined)) {
    throw new SvcInputError('invalid_input', 'Pass url, description, eventTypes or isEnabled: nothing would change.');
  }
  return await request<typeof endpoints.updateWebhook>(client, {
    route: 'PATCH /organization/webhooks/{id}',
    access: 'secret',
    params: { id },
    body,
  });
}

export interface DeleteWebhookParams {
  readonly id: string;
}

export type WebhookDeleted = AnswerOf<typeof endpoints.deleteWebhook>;

/**
 * Deletes a webhook. Nothing more is sent to it. On a server only: needs the secret key.
 *
 * @example
 * await svc.webhooks.deleteWebhook({ id: webhook.id });
 */
export function deleteWebhook(client: Client, { id }: DeleteWebhookParams): Promise<WebhookDeleted> {
  return request<typeof endpoints.deleteWebhook>(client, {
    route: 'DELETE /organization/webhooks/{id}',
    access: 'secret',
    params: { id },
  });
}

export interface RotateWebhookSecretParams {
  readonly id: string;
  /** How long the old secret signs as well: at most a week. Default: a day. */
  readonly overlapSeconds?: number | undefined;
}

/**
 * Gives a webhook a new secret. For a while its events are signed with both, so that none is lost. `secret` is null where the first
 * answer was lost on the way and the request repeated: call this again then. Up to three older secrets sign until their own time is
 * over, so the one that is deployed still does. On a server only: needs the secret key.
 *
 * @example
 * const { secret } = await svc.webhooks.rotateWebhookSecret({ id: webhook.id, overlapSeconds: 3600 });
 */
export function rotateWebhookSecret(
  client: Client,
  { id, overlapSeconds }: RotateWebhookSecretParams,
): Promise<WebhookWithSecret> {
  return request<typeof endpoints.rotateWebhookSecret>(client, {
    route: 'POST /organization/webhooks/{id}/rotate-secret',
    access: 'secret',
    params: { id },
    body: { overlapSeconds },
  });
}

export interface TestWebhookParams {
  readonly id: string;
}

/**
 * Sends a `webhook.test` event to one webhook alone, and answers its delivery. On a server only: needs the secret key.
 *
 * @example
 * const { id, state } = await svc.webhooks.testWebhook({ id: webhook.id });
 */
export function testWebhook(client: Client, { id }: TestWebhookParams): Promise<Delivery> {
  return request<typeof endpoints.testWebhook>(client, {
    route: 'POST /organization/webhooks/{id}/test',
    access: 'secret',
    params: { id },
  });
}

export interface ReplayWebhookParams {
  readonly id: string;
  /** One event. */
  readonly eventId?: string | undefined;
  /** In place of `eventId`: all events from this moment on, ISO 8601, … */
  readonly from?: string | undefined;
  /** … and before this one. */
  readonly to?: string | undefined;
}

export type ReplayedEvents = AnswerOf<typeof endpoints.replayWebhook>;

/**
 * Delivers one event, or all events of a time, once more to one webhook: the oldest first, at most 10,000 at a time. `nextFrom` is
 * where the rest begins, null when there is none. On a server only: needs the secret key.
 *
 * @example
 * const { replayed, nextFrom } = await svc.webhooks.replayWebhook({ id: webhook.id, from: '2026-11-02T18:00:00Z' });
 */
export function replayWebhook(client: Client, { id, eventId, from, to }: ReplayWebhookParams): Promise<ReplayedEvents> {
  return request<typeof endpoints.replayWebhook>(client, {
    route: 'POST /organization/webhooks/{id}/replay',
    access: 'secret',
    params: { id },
    body: { eventId, from, to },
  });
}

export interface DeliveryFilters {
  /** Of the webhook. */
  readonly id: string;
  readonly state?: DeliveryState | undefined;
  /** Only of this event. */
  readonly eventId?: string | undefined;
}

export interface ListDeliveriesParams extends DeliveryFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the deliveries of a webhook, newest first. On a server only: needs the secret key. `deliveries`
 * goes through all pages.
 *
 * @example
 * const { items } = await svc.webhooks.listDeliveries({ id: webhook.id, state: 'FAILED' });
 */
export async function listDeliveries(client: Client, params: ListDeliveriesParams): Promise<List<Delivery>> {
  return toList(await readDeliveryPage(client, params));
}

export interface DeliveriesParams extends DeliveryFilters, PageOptions {}

/**
 * Goes through the deliveries of a webhook, newest first, page after page. On a server only: needs the secret key.
 *
 * @example
 * for await (const { eventType, state } of svc.webhooks.deliveries({ id: webhook.id })) console.log(eventType, state);
 */
export function deliveries(client: Client, params: DeliveriesParams): AsyncGenerator<Delivery, void, undefined> {
  const { id, state, eventId } = params;
  return eachItem((asked) => readDeliveryPage(client, { id, state, eventId, ...asked }), params);
}

export interface GetDeliveryParams {
  /** Of the webhook. */
  readonly id: string;
  readonly deliveryId: string;
}

export type DeliveryWithAttempts = AnswerOf<typeof endpoints.getDelivery>;

/**
 * Reads a delivery and every attempt of it. On a server only: needs the secret key.
 *
 * @example
 * const delivery = await svc.webhooks.testWebhook({ id: webhook.id });
 * const { attemptsMade } = await svc.webhooks.getDelivery({ id: webhook.id, deliveryId: delivery.id });
 */
export function getDelivery(client: Client, { id, deliveryId }: GetDeliveryParams): Promise<DeliveryWithAttempts> {
  return request<typeof endpoints.getDelivery>(client, {
    route: 'GET /organization/webhooks/{id}/deliveries/{deliveryId}',
    access: 'secret',
    params: { id, deliveryId },
  });
}

export interface EventFilters {
  readonly type?: EventType | undefined;
}

export interface ListEventsParams extends EventFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of what happened in your environment, newest first. On a server only: needs the secret key. `events`
 * goes through all pages.
 *
 * @example
 * const { items } = await svc.webhooks.listEvents({ type: 'sku-purchase.failed' });
 */
export async function listEvents(client: Client, params: ListEventsParams = {}): Promise<List<Event>> {
  return toList(await readEventPage(client, params));
}

export interface EventsParams extends EventFilters, PageOptions {}

/**
 * Goes through what happened in your environment, newest first, page after page. On a server only: needs the secret
 * key.
 *
 * @example
 * for await (const { type, timestamp } of svc.webhooks.events()) console.log(timestamp, type);
 */
export function events(client: Client, params: EventsParams = {}): AsyncGenerator<Event, void, undefined> {
  const { type } = params;
  return eachItem((asked) => readEventPage(client, { type, ...asked }), params);
}

function readWebhookPage(client: Client, params: ListWebhooksParams): Promise<Page<Webhook>> {
  const { page, limit } = params;
  return request<typeof endpoints.listWebhooks>(client, {
    route: 'GET /organization/webhooks',
    access: 'secret',
    query: { page, limit },
  });
}

function readDeliveryPage(client: Client, params: ListDeliveriesParams): Promise<Page<Delivery>> {
  const { id, state, eventId, page, limit } = params;
  return request<typeof endpoints.listDeliveries>(client, {
    route: 'GET /organization/webhooks/{id}/deliveries',
    access: 'secret',
    params: { id },
    query: { state, eventId, page, limit },
  });
}

function readEventPage(client: Client, params: ListEventsParams): Promise<Page<Event>> {
  const { type, page, limit } = params;
  return request<typeof endpoints.listEvents>(client, {
    route: 'GET /organization/events',
    access: 'secret',
    query: { type, page, limit },
  });
}
