import { ApiError } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  addProviderFault,
  clearProviderFaults,
  listProviderFaults,
  type RequestFaultKind,
  readOrdersQuery,
  readProviderFault,
  readSlowSecondsChange,
  requestFaultKinds,
  takeProviderFault,
} from './faults.ts';
import {
  acceptOrder,
  changeSlowSeconds,
  deliverDue,
  listOrders,
  lookUpOrder,
  type OrderStatus,
  readOrder,
  readSlowSeconds,
} from './orders.ts';
import { CallbackWorker, HeldRequests, isSigned, type ProviderClient } from './results.ts';

export interface ProviderOptions {
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export function registerProvider(
  app: FastifyInstance,
  db: Database,
  client: ProviderClient,
  { now = Date.now }: ProviderOptions = {},
): void {
  const messenger = new CallbackWorker(db, client, now);
  const onAccepted = () => messenger.wake();
  app.register(async (scope) => registerOrders(scope, { db, secret: client.providerSecret, now, onAccepted }));
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
    const fault = await addProviderFault(db, readProviderFault(body));
    if (!fault) throw new ApiError('invalid_request', 'There are too many orders. Clear them with DELETE first.');
    return fault;
  });
}

const MAX_ORDER_BYTES = 64 * 1024;

export interface OrderRouteDeps {
  readonly db: Database;
  readonly secret: Uint8Array;
  readonly now: () => number;
  /** An order is to be delivered later. */
  onAccepted?(): void;
}

interface WithOrder {
  readonly Params: { readonly orderId: string };
}

export async function registerOrders(app: FastifyInstance, deps: OrderRouteDeps): Promise<void> {
  const { db, secret, now } = deps;
  const silence = new HeldRequests(app);
  // The signature covers the raw bytes.
  app.removeAllContentTypeParsers();
  const limits = { parseAs: 'buffer', bodyLimit: MAX_ORDER_BYTES } as const;
  app.addContentTypeParser('application/json', limits, (_request, body, done) => done(null, body));
  const requireSigned = ({ headers }: FastifyRequest, orderId: string, body: Uint8Array) => {
    if (isSigned(secret, headers, orderId, body, Math.floor(now() / 1_000))) return;
    throw new ApiError('invalid_signature', 'The order is not signed with the secret of both sides.', { status: 401 });
  };

  app.post('/provider/orders', async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    requireSigned(request, String(request.headers['webhook-id']), body);
    const order = readOrder(body);
    const ids = [request.headers['webhook-id'], request.headers['idempotency-key']];
    if (ids.some((id) => id !== order.orderId)) {
      throw new ApiError('invalid_request', "webhook-id and Idempotency-Key must be the order's id.");
    }
    const { fault, known } = await acceptOrder(db, order);
    if (known?.state === 'accepted') deps.onAccepted?.();
    if (fault !== undefined) return applyFault(reply, fault, silence);
    if (!known) throw new ApiError('invalid_request', 'This id was used for another order.');
    return answer(reply, known);
  });

  app.get<WithOrder>('/provider/orders/:orderId', async (request, reply) => {
    const { orderId } = request.params;
    requireSigned(request, orderId, Buffer.alloc(0));
    // Due orders end now, not at the next poll.
    await deliverDue(db, orderId);
    const known = await lookUpOrder(db, orderId);
    const fault = await takeProviderFault(db, requestFaultKinds, 'look-up', known?.reference);
    if (fault !== undefined) return applyFault(reply, fault, silence);
    return known ? answer(reply, known) : reply.code(404).send({ status: 'unknown' });
  });
}

function answer(reply: FastifyReply, { state, fileNumber, reason }: OrderStatus): FastifyReply {
  if (state === 'accepted') return reply.code(202).send({ status: state });
  return reply.code(200).send(state === 'completed' ? { status: state, fileNumber } : { status: state, reason });
}

function applyFault(reply: FastifyReply, fault: RequestFaultKind, silence: HeldRequests): FastifyReply {
  switch (fault) {
    case 'unavailable':
    case 'deliver-unavailable':
      return reply.code(500).send({ error: 'unavailable', message: 'Something went wrong, as ordered.' });
    case 'close':
    case 'deliver-close':
      reply.hijack().raw.destroy();
      return reply;
    case 'hang':
    case 'deliver-hang':
      return silence.hold(reply);
  }
}
