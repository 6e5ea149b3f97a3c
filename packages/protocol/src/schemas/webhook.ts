import { type Static, Type } from 'typebox';
import { deliveryStates, eventTypes } from '../enums.ts';
import { Identifier, Moment, Nullable, OneOf, Page, pageQuery, Timestamp } from './common.ts';

const webhookFields = {
  id: Type.String(),
  url: Type.String(),
  description: Nullable(Type.String()),
  eventTypes: Nullable(Type.Array(OneOf(eventTypes), { description: 'null: all' })),
  isEnabled: Type.Boolean(),
  disabledReason: Nullable(
    OneOf(['BY_HAND', 'GONE', 'FAILING'], {
      description: 'GONE: the address answered 410. FAILING: nothing was delivered for days',
    }),
  ),
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
};
const secret = Nullable(Type.String({ description: 'whsec_…, shown this once' }));

export const Webhook = Type.Object(webhookFields, { title: 'Webhook' });
export type Webhook = Static<typeof Webhook>;
export const WebhookPage = Page(Webhook, 'WebhookPage');
export const WebhookWithSecret = Type.Object({ ...webhookFields, secret }, { title: 'WebhookWithSecret' });
export const WebhookQuery = Type.Object(pageQuery);
export const WebhookParams = Type.Object({ id: Identifier('Identifier of the webhook') });

const url = Type.String({ minLength: 1, maxLength: 2048, description: 'A public https address' });
const description = Nullable(Type.String({ maxLength: 200 }));
const chosenTypes = Nullable(
  Type.Array(OneOf(eventTypes), { minItems: 1, maxItems: eventTypes.length, description: 'null: all' }),
);
export const CreateWebhook = Type.Object({
  url,
  description: Type.Optional(description),
  eventTypes: Type.Optional(chosenTypes),
});
export const UpdateWebhook = Type.Partial(
  Type.Object({ url, description, eventTypes: chosenTypes, isEnabled: Type.Boolean() }),
  { minProperties: 1 },
);

/** A week is enough to bring a new secret to every place that knows the old one. */
const MAX_OVERLAP_SECONDS = 7 * 86_400;
export const RotateSecret = Type.Object({
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_OVERLAP_SECONDS,
      default: 86_400,
      description: 'How long webhooks are signed with the old secret as well',
    }),
  ),
});

export const Event = Type.Object(
  {
    id: Type.String({ description: 'The webhook-id of its deliveries' }),
    type: OneOf(eventTypes),
    timestamp: Timestamp(),
    data: Type.Record(Type.String(), Type.Unknown(), { description: 'Of a sku-purchase event, the Transaction' }),
  },
  { title: 'Event' },
);
export type Event = Static<typeof Event>;
export const EventPage = Page(Event, 'EventPage');
export const EventQuery = Type.Object({ ...pageQuery, type: Type.Optional(OneOf(eventTypes)) });

const deliveryFields = {
  id: Type.String(),
  eventId: Type.String(),
  eventType: OneOf(eventTypes),
  state: OneOf(deliveryStates),
  attempts: Type.Integer(),
  nextAttemptAt: Nullable(Timestamp()),
  createdAt: Timestamp(),
  endedAt: Nullable(Timestamp()),
};
export const Delivery = Type.Object(deliveryFields, { title: 'Delivery' });
export type Delivery = Static<typeof Delivery>;
export const DeliveryPage = Page(Delivery, 'DeliveryPage');
export const DeliveryQuery = Type.Object({
  ...pageQuery,
  state: Type.Optional(OneOf(deliveryStates)),
  eventId: Type.Optional(Identifier('Only of this event')),
});
export const DeliveryParams = Type.Object({
  id: Identifier('Identifier of the webhook'),
  deliveryId: Identifier('Identifier of the delivery'),
});
export const DeliveryAttempt = Type.Object({
  number: Type.Integer(),
  at: Timestamp(),
  durationMs: Type.Integer(),
  status: Nullable(Type.Integer({ description: 'The HTTP status; null when no answer came' })),
  error: Nullable(Type.String({ description: 'Why it did not count as delivered' })),
  response: Nullable(Type.String({ description: 'The beginning of the answer' })),
});
export const DeliveryWithAttempts = Type.Object(
  { ...deliveryFields, attemptsMade: Type.Array(DeliveryAttempt) },
  { title: 'DeliveryWithAttempts' },
);

export const ReplayEvents = Type.Object({
  eventId: Type.Optional(Identifier('One event')),
  from: Type.Optional(Moment('All events from this moment on')),
  to: Type.Optional(Moment('and before this one')),
});
export const ReplayedEvents = Type.Object(
  { replayed: Type.Integer({ description: 'How many events are delivered again' }) },
  { title: 'ReplayedEvents' },
);
