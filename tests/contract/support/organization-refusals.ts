import { sql } from '@svc/store';
import { bodyOf, field, hashOf, ownSkuBody, transferOf } from '../../support/app.ts';
import { inTurn, WEBHOOK_URL } from '../../support/examples.ts';
import { USDC } from '../../support/starknet-client.ts';
import {
  type MakeRefusal,
  type RefusalContext,
  type RefusalsOf,
  UNAVAILABLE,
  WOULD_REVERT,
  withBody,
  withParams,
  withQuery,
} from './refusal.ts';
import { UNKNOWN_HASH } from './wallet-refusals.ts';

const PAID_RAW = 10_000n;
const unknownPurchase = withParams({ id: 'txn_nothing' });

/** With an unknown payment: one that is known is answered without further checks. */
const withUnknownPayment = (change: object): MakeRefusal => withBody({ transactionHash: UNKNOWN_HASH, ...change });

const smallPayment: MakeRefusal = async (context) => {
  const { app, owner } = context.data;
  const paymentAddress = field<string>(await app.get('/config'), 'paymentAddress');
  const transactionHash = hashOf(await app.execute(owner, [transferOf(USDC, paymentAddress, 1n)]));
  return withBody({ transactionHash, walletAddress: owner.address })(context);
};

/** A transfer to the payer that counts as the refund of another purchase. */
const refundOfAnother: MakeRefusal = async ({ data, send }: RefusalContext) => {
  const { app, owner, purchases } = data;
  const payer = purchases.body.walletAddress;
  const transactionHash = hashOf(await app.execute(owner, [transferOf(USDC, payer, PAID_RAW)]));
  const body = { transactionHash };
  await send({ params: { id: inTurn(purchases.refundable) }, body });
  return { params: { id: inTurn(purchases.refundable) }, body };
};

const withFault =
  (fault: object, provoke: MakeRefusal): MakeRefusal =>
  async (context) => {
    await context.data.sandbox.orderFault({ ...fault });
    return provoke(context);
  };

export const purchaseRefusals: RefusalsOf = {
  createSkuPurchase: {
    invalid_reference: withUnknownPayment({ skuReference: 'nonsense' }),
    invalid_amount: withUnknownPayment({ currencyAmount: 1 }),
    payment_too_small: smallPayment,
    token_not_supported: withBody({ token: 'STRK' }),
    transaction_already_used: withBody({ skuReference: 'IMDM28417937' }),
    transaction_mismatch: (context) => {
      const { transfer, owner } = context.data;
      return withBody({ transactionHash: transfer, walletAddress: owner.address })(context);
    },
    transaction_reverted: (context) => withBody({ transactionHash: context.failed.hash })(context),
    transaction_not_found: withUnknownPayment({}),
    unsupported_chain: withBody({ chain: 'BASE' }),
    sku_not_found: withUnknownPayment({ skuId: 'nothing' }),
    chain_unavailable: withFault(UNAVAILABLE, withUnknownPayment({})),
  },
  getSkuPurchase: { purchase_not_found: unknownPurchase },
  cancelSkuPurchase: {
    purchase_not_found: unknownPurchase,
    purchase_not_cancellable: ({ data }) => ({ params: { id: inTurn(data.purchases.refundable) } }),
  },
  refundSkuPurchase: {
    purchase_not_found: unknownPurchase,
    purchase_not_refundable: ({ data }) => ({ params: { id: data.purchases.id } }),
    refund_failed: withFault(WOULD_REVERT, () => ({})),
    transaction_already_used: refundOfAnother,
    transaction_mismatch: ({ data }) => ({ body: { transactionHash: data.transfer } }),
    transaction_reverted: ({ failed }) => ({ body: { transactionHash: failed.hash } }),
    transaction_not_found: () => ({ body: { transactionHash: UNKNOWN_HASH } }),
    chain_not_configured: ({ callers, strandedPurchase }) => ({
      headers: callers.production,
      params: { id: strandedPurchase },
    }),
    chain_unavailable: withFault(UNAVAILABLE, () => ({})),
  },
};

const MAX_KEYS = 20;
const MAX_OWN_SKUS = 500;

/** Public keys, because the examples make secret ones. */
const withManyKeys: MakeRefusal = async ({ send }) => {
  const body = { kind: 'public' };
  for (let count = 0; count < MAX_KEYS; count++) await send({ body });
  return { body };
};

/** One that is made, and copies of it. */
const withManySkus: MakeRefusal = async ({ db, send, callers: { others: headers } }) => {
  const { id } = bodyOf<{ id: string }>(await send({ headers, body: ownSkuBody() }), 201);
  await db.run(sql`
    insert into own_skus (organization_id, environment, id, provider_id, name, category, reference_pattern,
      reference_label, amount_pattern, amount_label, currency, can_check_reference)
    select organization_id, environment, 'copy-' || n, provider_id, name, category, reference_pattern,
           reference_label, amount_pattern, amount_label, currency, can_check_reference
      from own_skus, generate_series(2, ${MAX_OWN_SKUS}::integer) as n where id = ${id}
        on conflict do nothing`);
  return { headers, body: ownSkuBody() };
};

const ownKey: MakeRefusal = async ({ data: { app } }) => {
  const { body } = await app.get('/organization/keys?limit=100');
  const keys = (body as { data: { id: string; key: string }[] }).data;
  return { params: { id: keys.find(({ key }) => key === app.headers['x-api-key'])?.id ?? 'none' } };
};

export const settingsRefusals: RefusalsOf = {
  getSponsorship: { invalid_request: withQuery({ externalUserId: 'x'.repeat(257) }) },
  createApiKey: { key_limit_reached: withManyKeys },
  revokeApiKey: { key_not_found: withParams({ id: 'key_nothing' }), key_in_use: ownKey },
  createOwnSku: {
    invalid_sku: withBody({ referenceRegexValidation: '(' }),
    sku_id_taken: withBody({ id: 'pase-recarga' }),
    sku_limit_reached: withManySkus,
  },
  updateOwnSku: {
    invalid_sku: withBody({ amountRegexValidation: '^[0-9' }),
    sku_not_found: withParams({ id: 'nothing' }),
  },
  deleteOwnSku: { sku_not_found: withParams({ id: 'nothing' }) },
};

const MAX_WEBHOOKS = 20;

const unknownWebhook = withParams({ id: 'whk_nothing' });

const withManyWebhooks: MakeRefusal = async ({ send, callers: { others: headers } }) => {
  for (let count = 0; count < MAX_WEBHOOKS; count++) await send({ headers });
  return { headers };
};

const MAX_STREAMS = 20;

/** They end by themselves, long after the answer. */
const withManyStreams: MakeRefusal = async ({ data, callers: { others: headers } }) => {
  const open = () => fetch(`${data.app.baseUrl}/organization/events/stream?seconds=5`, { headers });
  for (const { body } of await Promise.all(Array.from({ length: MAX_STREAMS }, open)))
    void body?.pipeTo(new WritableStream());
  return { headers };
};

const switchedOff: MakeRefusal = async ({ data: { app } }) => {
  const { id } = (await app.post('/organization/webhooks', { url: WEBHOOK_URL })).body as { id: string };
  await app.patch(`/organization/webhooks/${id}`, { isEnabled: false });
  return { params: { id } };
};

const toForbidden = withBody({ url: 'https://10.0.0.1/svc' });

export const webhookRefusals: RefusalsOf = {
  createWebhook: { invalid_webhook_url: toForbidden, webhook_limit_reached: withManyWebhooks },
  getWebhook: { webhook_not_found: unknownWebhook },
  updateWebhook: { invalid_webhook_url: toForbidden, webhook_not_found: unknownWebhook },
  deleteWebhook: { webhook_not_found: unknownWebhook },
  rotateWebhookSecret: { webhook_not_found: unknownWebhook },
  testWebhook: { webhook_not_found: unknownWebhook, webhook_disabled: switchedOff },
  replayWebhook: {
    webhook_not_found: unknownWebhook,
    webhook_disabled: switchedOff,
    event_not_found: withBody({ eventId: 'evt_nothing' }),
  },
  streamEvents: {
    invalid_request: withQuery({ seconds: '-1' }),
    event_not_found: withQuery({ after: 'evt_nothing' }),
    too_many_streams: withManyStreams,
  },
  listDeliveries: { webhook_not_found: unknownWebhook },
  getDelivery: {
    webhook_not_found: ({ data: { settings } }) => ({
      params: { id: 'whk_nothing', deliveryId: settings.delivery },
    }),
    delivery_not_found: ({ data: { settings } }) => ({
      params: { id: settings.webhook, deliveryId: 'whd_nothing' },
    }),
  },
};
