import { WEBHOOK_URL } from '../../support/examples.ts';
import { type Provoke, type RefusalsOf, withBody, withParams } from './provoke.ts';

const MAX_WEBHOOKS = 20;

const unknownWebhook = withParams({ id: 'whk_nothing' });

const withManyWebhooks: Provoke = async ({ send, callers: { others: headers } }) => {
  for (let count = 0; count < MAX_WEBHOOKS; count++) await send({ headers });
  return { headers };
};

const switchedOff: Provoke = async ({ world: { app } }) => {
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
  listDeliveries: { webhook_not_found: unknownWebhook },
  getDelivery: {
    webhook_not_found: ({ world: { settings } }) => ({
      params: { id: 'whk_nothing', deliveryId: settings.delivery },
    }),
    delivery_not_found: ({ world: { settings } }) => ({
      params: { id: settings.webhook, deliveryId: 'whd_nothing' },
    }),
  },
};
