import { ApiError } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { clearProviderFaults, listProviderFaults, orderProviderFault } from './faults.ts';
import { Messenger } from './messenger.ts';
import { registerOrders } from './order-routes.ts';
import { readOrdersQuery, readProviderFault, readSlowSeconds as readSlowSecondsChange } from './requests.ts';
import { changeSlowSeconds, listOrders, readSlowSeconds } from './store.ts';
import type { ProviderClient } from './tell-results.ts';

export interface ProviderOptions {
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** A fulfilment service for the service it is mounted in, its ledger, and what people and tests may do to it. */
export function registerProvider(
  app: FastifyInstance,
  db: Database,
  client: ProviderClient,
  { now = Date.now }: ProviderOptions = {},
): void {
  app.register(async (scope) => registerOrders(scope, { db, secret: client.providerSecret, now }));
  const messenger = new Messenger(db, client, now);
  app.addHook('onClose', () => messenger.stop());

  app.get<{ Querystring: Record<string, unknown> }>('/provider/orders', async ({ query }) => {
    const { orderId, limit } = readOrdersQuery(query);
    return { orders: await listOrders(db, orderId, limit) };
  });

  app.get('/provider', async () => ({ settings: { slowSeconds: await readSlowSeconds(db.reads) } }));
  app.post('/provider/settings', async ({ body }) => {
    const slowSeconds = readSlowSecondsChange(body);
    await changeSlowSeconds(db, slowSeconds);
    return { settings: { slowSeconds } };
  });

  app.get('/provider/faults', async () => ({ faults: await listProviderFaults(db) }));
  app.delete('/provider/faults', async () => {
    await clearProviderFaults(db);
    return { faults: [] };
  });
  app.post('/provider/faults', async ({ body }) => {
    const fault = await orderProviderFault(db, readProviderFault(body));
    if (!fault) throw new ApiError('invalid_request', 'There are too many orders. Clear them with DELETE first.');
    return fault;
  });
}
