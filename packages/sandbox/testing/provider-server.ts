import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '@svc/protocol';
import { sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import Fastify from 'fastify';
import { sandbox } from '../src/index.ts';
import type { Order, ShownOrder } from '../src/provider/orders.ts';
import { sendResults, sign } from '../src/provider/results.ts';
import { registerProvider } from '../src/provider/routes.ts';

export interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface ReceivedResult {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string>>;
}

const SECRET = Buffer.alloc(32, 5);

/** The provider behind HTTP on its own database, and a service that receives its results. */
export async function startProvider() {
  const database = await TestDatabase.create([sandbox.migrations]);
  const service = await startService();
  const app = Fastify({ forceCloseConnections: true });
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof ApiError ? error.status : ((error as { statusCode?: number }).statusCode ?? 500);
    return reply.code(status).send({ message: error instanceof Error ? error.message : '' });
  });
  // No callbacks by itself: the tests send them.
  const client = { providerSecret: SECRET, ordersUrl: undefined };
  app.register(async (scope) => registerProvider(scope, database.db, client));
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/provider`;

  const send = async (path: string, init: RequestInit = {}): Promise<Reply> => {
    const response = await fetch(url + path, init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  const headersFor = (id: string, body: string) => sign(SECRET, id, body, Math.floor(Date.now() / 1_000));
  return {
    database,
    service,
    url,
    send,
    post,
    headersFor,
    order: (order: Order, signal?: AbortSignal): Promise<Reply> => {
      const body = JSON.stringify(order);
      const headers = { ...headersFor(order.orderId, body), 'idempotency-key': order.orderId };
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } };
      return send('/orders', { ...init, ...(signal && { signal }) });
    },
    lookUp: (id: string) => send(`/orders/${id}`, { headers: headersFor(id, '') }),
    ledger: async (id: string): Promise<ShownOrder | undefined> =>
      ((await send(`/orders?orderId=${id}`)).body.orders as ShownOrder[])[0],
    /** Makes the order and its callback due. */
    makeDue: (id: string) =>
      database.db.run(sql`
        update sandbox.provider_orders set due_at = clock_timestamp(), tell_at = clock_timestamp()
         where order_id = ${id}`),
    sendResults: () =>
      sendResults(
        database.db,
        { providerSecret: SECRET, ordersUrl: service.url },
        Date.now,
        AbortSignal.timeout(60_000),
      ),
    stop: async () => {
      await app.close();
      service.stop();
      await database.drop();
    },
  };
}

/** Answers 204, or the next of `answers`. */
async function startService() {
  const received: ReceivedResult[] = [];
  const answers: (number | 'close' | (() => Promise<void>))[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Record<string, unknown>;
    received.push({ path: request.url ?? '', body, headers: request.headers as Record<string, string> });
    const answer = answers.shift() ?? 204;
    if (typeof answer === 'function') await answer();
    if (answer === 'close') response.destroy();
    else response.writeHead(typeof answer === 'function' ? 204 : answer).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { received, answers, stop, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders` };
}
