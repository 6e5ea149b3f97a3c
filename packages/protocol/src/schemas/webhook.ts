import { type Static, Type } from 'typebox';
import { deliveryStates, eventTypes } from '../enums.ts';
import { Identifier, Moment, Nullable, OneOf, Page, pageQuery, Timestamp } from './common.ts';
import type { GiftRedeem } from './gift.ts';
import type { Transaction } from './transaction.ts';
import type { TreasuryProposal } from './treasury.ts';
import type { Wallet } from './wallet.ts';

const ALL = 'null: all but the gift events, which must be named';

const webhookFields = {
  id: Type.String(),
  url: Type.String(),
  description: Nullable(Type.String()),
  eventTypes: Nullable(Type.Array(OneOf(eventTypes), { description: ALL })),
  isEnabled: Type.Boolean(),
  disabledReason: Nullable(
    OneOf(['BY_HAND', 'GONE', 'FAILING'], {
      description: 'GONE: the address answered 410. FAILING: nothing was delivered for days',
    }),
  ),
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
};
const secret = Nullable(
  Type.String({ description: 'whsec_…, shown this once: null when a request with an Idempotency-Key is repeated' }),
);

const WEBHOOK = {
  id: 'whk_01kxw9k6m7n8p9q0r1s2t3v4w5',
  url: 'https://app.tienda.example/webhooks/svc',
  description: null,
  eventTypes: ['sku-purchase.completed', 'sku-purchase.failed'],
  isEnabled: true,
  disabledReason: null,
  createdAt: '2026-11-02T18:20:11.000Z',
  updatedAt: '2026-11-02T18:20:11.000Z',
};
export const Webhook = Type.Object(webhookFields, { title: 'Webhook', examples: [WEBHOOK] });
export type Webhook = Static<typeof Webhook>;
export const WebhookPage = Page(Webhook, 'WebhookPage');
export const WebhookWithSecret = Type.Object(
  { ...webhookFields, secret },
  { title: 'WebhookWithSecret', examples: [{ ...WEBHOOK, secret: 'whsec_…' }] },
);
export const WebhookQuery = Type.Object(pageQuery);
export const WebhookParams = Type.Object({ id: Identifier('Identifier of the webhook') });

const url = Type.String({ minLength: 1, maxLength: 2048, description: 'A public https address' });
const description = Nullable(Type.String({ maxLength: 200 }));
const chosenTypes = Nullable(
  Type.Array(OneOf(eventTypes), {
    minItems: 1,
    maxItems: eventTypes.length,
    uniqueItems: true,
    description: ALL,
  }),
);
export const CreateWebhook = Type.Object(
  { url, description: Type.Optional(description), eventTypes: Type.Optional(chosenTypes) },
  { examples: [{ url: WEBHOOK.url }] },
);
export const UpdateWebhook = Type.Partial(
  Type.Object({ url, description, eventTypes: chosenTypes, isEnabled: Type.Boolean() }),
  { minProperties: 1, examples: [{ isEnabled: false }] },
);

/** Enough time to roll out a new secret. */
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

/** USDC that arrived at the deposit address and was credited. */
export interface CreditedDeposit {
  readonly ledgerEntryId: string;
  readonly transactionHash: string;
  readonly depositAddress: string;
  /** Decimal. */
  readonly amountUsd: string;
}

/** The proposal without what is signed. */
export type ProposalEvent = Omit<TreasuryProposal, 'typedData' | 'calls'> & { readonly proposalId: string };

/** What `data` of an event is, by its type. */
export interface EventData {
  readonly 'sku-purchase.processing': Transaction;
  readonly 'sku-purchase.completed': Transaction;
  readonly 'sku-purchase.failed': Transaction;
  readonly 'sku-purchase.cancelled': Transaction;
  readonly 'wallet.created': Omit<Wallet, 'encryptedPrivateKey'>;
  readonly 'transaction.confirmed': Transaction;
  readonly 'transaction.failed': Transaction;
  readonly 'transfer.received': Transaction;
  readonly 'deposit.credited': CreditedDeposit;
  readonly 'treasury.proposal.created': ProposalEvent;
  readonly 'treasury.proposal.signed': ProposalEvent & { readonly signedBy: string };
  /** Without a receipt: wait for `executedTxHash`. */
  readonly 'treasury.proposal.executed': ProposalEvent & { readonly executedTxHash: string };
  readonly 'treasury.proposal.failed': ProposalEvent;
  readonly 'treasury.proposal.expired': ProposalEvent;
  readonly 'gift.redeemed': Omit<GiftRedeem, 'code'>;
  readonly 'gift.redeem-failed': Omit<GiftRedeem, 'code'> & { readonly reason: string | null };
  readonly 'webhook.test': { readonly webhookId: string; readonly message: string };
}

const EVENT_ID = 'evt_01kxw9m7n8p9q0r1s2t3v4w5x6';
const EVENT = {
  id: EVENT_ID,
  type: 'sku-purchase.completed',
  timestamp: '2026-11-02T18:20:11.000Z',
  data: { id: 'txn_01kxw9a0b1c2d3e4f5g6h7j8k9', status: 'SUCCESS', skuFileNumber: '84120377' },
};
export const Event = Type.Object(
  {
    id: Type.String({ description: 'The webhook-id of its deliveries' }),
    type: OneOf(eventTypes),
    timestamp: Timestamp(),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Of sku-purchase, transaction and transfer events the Transaction; of wallet.created the Wallet without its encrypted key; of treasury.proposal events treasuryId, proposalId and the proposal without what is signed; of gift events the GiftRedeem without its code',
    }),
  },
  {
    title: 'Event',
    examples: [EVENT],
  },
);
export type Event = Static<typeof Event>;
export const EventPage = Page(Event, 'EventPage');
export const EventStream = Type.String({
  description:
    'Server-sent events: `id` is the id of an event, `data` the Event as JSON in one line. Lines that begin with a colon keep the connection open',
  examples: [`id: ${EVENT_ID}\ndata: ${JSON.stringify(EVENT)}\n\n`],
});
export const EventStreamQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^evt_[0-9a-z]{1,26}$',
      description:
        'The last event that you have: the stream continues behind it. The header Last-Event-ID wins over it. `evt_0`: all that are kept. Default: events from now on',
      examples: [EVENT_ID],
    }),
  ),
  seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3600,
      default: 3600,
      description: 'When the stream ends at the latest; continue with another one. 0: what there is, without waiting',
      examples: [0],
    }),
  ),
});
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
const DELIVERY = {
  id: 'dlv_01kxw9n8p9q0r1s2t3v4w5x6y7',
  eventId: EVENT_ID,
  eventType: 'sku-purchase.completed',
  state: 'WAITING',
  attempts: 1,
  nextAttemptAt: '2026-11-02T18:20:16.000Z',
  createdAt: '2026-11-02T18:20:11.000Z',
  endedAt: null,
};
const ATTEMPT = {
  number: 1,
  at: '2026-11-02T18:20:11.000Z',
  durationMs: 112,
  status: 503,
  error: 'The answer was 503.',
  response: 'Service Unavailable',
};
export const Delivery = Type.Object(deliveryFields, { title: 'Delivery', examples: [DELIVERY] });
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
  { ...deliveryFields, event: Event, attemptsMade: Type.Array(DeliveryAttempt) },
  { title: 'DeliveryWithAttempts', examples: [{ ...DELIVERY, event: EVENT, attemptsMade: [ATTEMPT] }] },
);

export const ReplayEvents = Type.Object(
  {
    eventId: Type.Optional(Identifier('One event')),
    from: Type.Optional(Moment('All events from this moment on')),
    to: Type.Optional(Moment('and before this one')),
  },
  { examples: [{ from: '2026-11-02T00:00:00.000Z' }] },
);
export const ReplayedEvents = Type.Object(
  {
    replayed: Type.Integer({ description: 'How many events are delivered again: at most 10,000' }),
    nextFrom: Nullable(
      Type.String({
        format: 'date-time',
        maxLength: 40,
        description: 'Where there are more, the moment of the first that is left: ask again with it as from',
      }),
    ),
  },
  { title: 'ReplayedEvents', examples: [{ replayed: 137, nextFrom: null }] },
);
