import type { AnswerOf, Delivery, DeliveryState, Event, EventType, endpoints, Webhook } from '@svc/protocol';
import type { Client } from './client/client.ts';
import { SvcInputError } from './client/errors.ts';
import { eachItem, type List, type Page, type PageOptions, toList } from './client/pages.ts';
import { request } from './client/request.ts';

export interface CreateWebhookParams {
  /** A public https URL. */
  readonly url: string;
  readonly description?: string | null | undefined;
  /** Default: null, all types but the gift events, which must be named. */
  readonly eventTypes?: EventType[] | null | undefined;
}

/** `secret` is for `verifyWebhook`; only this answer has it. */
export type WebhookWithSecret = AnswerOf<typeof endpoints.createWebhook>;

/**
 * Creates a webhook: events are sent to your URL. `secret` is null if the first answer was lost and the request
 * repeated: rotate it then. Server only: needs the secret key.
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
 * Reads one page of your webhooks, newest first. `webhooks` iterates over all pages. Server only: needs the secret
 * key.
 *
 * @example
 * const { items } = await svc.webhooks.listWebhooks();
 */
export async function listWebhooks(client: Client, params: ListWebhooksParams = {}): Promise<List<Webhook>> {
  return toList(await readWebhookPage(client, params));
}

/**
 * Iterates over your webhooks, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { url, isEnabled } of svc.webhooks.webhooks()) console.log(url, isEnabled);
 */
export function webhooks(client: Client, params: PageOptions = {}): AsyncGenerator<Webhook, void, undefined> {
  return eachItem((query) => readWebhookPage(client, query), params);
}

export interface GetWebhookParams {
  readonly id: string;
}

/**
 * Reads a webhook. Server only: needs the secret key.
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
  /** null: all types. */
  readonly eventTypes?: EventType[] | null | undefined;
  readonly isEnabled?: boolean | undefined;
}

/**
 * Changes, enables or disables a webhook. Events of the time while it was disabled are not sent: use `replayWebhook`.
 * Server only: needs the secret key.
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
 * Deletes a webhook. Nothing more is sent to it. Server only: needs the secret key.
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
  /** How long the old secret still signs: at most a week. Default: a day. */
  readonly overlapSeconds?: number | undefined;
}

/**
 * Gives a webhook a new secret. Until the overlap ends, events are signed with both. `secret` is null if the first
 * answer was lost and the request repeated: call this again. Up to three older secrets sign until their own overlap
 * ends, so the deployed one stays valid. Server only: needs the secret key.
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
 * Sends a `webhook.test` event to one webhook and returns its delivery. Server only: needs the secret key.
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
  readonly eventId?: string | undefined;
  /** Instead of `eventId`: events from this time on, ISO 8601. */
  readonly from?: string | undefined;
  /** Exclusive, ISO 8601. */
  readonly to?: string | undefined;
}

export type ReplayedEvents = AnswerOf<typeof endpoints.replayWebhook>;

/**
 * Delivers one event, or all events of a period, again to one webhook: oldest first, at most 10,000 per call.
 * `nextFrom` is the start of the rest, or null. Server only: needs the secret key.
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
  readonly eventId?: string | undefined;
}

export interface ListDeliveriesParams extends DeliveryFilters {
  /** From 1 on. Default: 1. */
  readonly page?: number | undefined;
  /** Items on a page, at most 100. Default: 10. */
  readonly limit?: number | undefined;
}

/**
 * Reads one page of the deliveries of a webhook, newest first. `deliveries` iterates over all pages. Server only:
 * needs the secret key.
 *
 * @example
 * const { items } = await svc.webhooks.listDeliveries({ id: webhook.id, state: 'FAILED' });
 */
export async function listDeliveries(client: Client, params: ListDeliveriesParams): Promise<List<Delivery>> {
  return toList(await readDeliveryPage(client, params));
}

export interface DeliveriesParams extends DeliveryFilters, PageOptions {}

/**
 * Iterates over the deliveries of a webhook, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { eventType, state } of svc.webhooks.deliveries({ id: webhook.id })) console.log(eventType, state);
 */
export function deliveries(client: Client, params: DeliveriesParams): AsyncGenerator<Delivery, void, undefined> {
  const { id, state, eventId } = params;
  return eachItem((query) => readDeliveryPage(client, { id, state, eventId, ...query }), params);
}

export interface GetDeliveryParams {
  /** Of the webhook. */
  readonly id: string;
  readonly deliveryId: string;
}

export type DeliveryWithAttempts = AnswerOf<typeof endpoints.getDelivery>;

/**
 * Reads a delivery and its attempts. Server only: needs the secret key.
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
 * Reads one page of the events of your environment, newest first. `events` iterates over all pages. Server only:
 * needs the secret key.
 *
 * @example
 * const { items } = await svc.webhooks.listEvents({ type: 'sku-purchase.failed' });
 */
export async function listEvents(client: Client, params: ListEventsParams = {}): Promise<List<Event>> {
  return toList(await readEventPage(client, params));
}

export interface EventsParams extends EventFilters, PageOptions {}

/**
 * Iterates over the events of your environment, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { type, timestamp } of svc.webhooks.events()) console.log(timestamp, type);
 */
export function events(client: Client, params: EventsParams = {}): AsyncGenerator<Event, void, undefined> {
  const { type } = params;
  return eachItem((query) => readEventPage(client, { type, ...query }), params);
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
