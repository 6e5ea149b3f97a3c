import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** A client that takes longer than this to send its request is cut off. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the 60 s for which proxies keep an idle connection: the side that closes must not be the one that is asked. */
const IDLE_TIMEOUT_MS = 75_000;
/** How often connections that became idle are closed while the server drains. */
const SWEEP_MS = 50;
const STARTING = JSON.stringify({
  error: 'internal_error',
  message: 'The service is starting. Try again in a second.',
});

/** A bound port. Its address is known before anything is built that needs it. */
export interface Listener {
  /** The address as this machine reaches it, without a slash at the end. */
  readonly localUrl: string;
  readonly server: Server;
  /** From now on requests reach the application; before, they are answered 503. */
  serve(app: FastifyInstance): void;
  /** Stops listening, lets requests in flight finish and closes connections as they become idle. */
  close(): Promise<void>;
}

export async function bind({ host, port }: { readonly host: string; readonly port: number }): Promise<Listener> {
  let handle = (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(503, { 'content-type': 'application/json; charset=utf-8', 'retry-after': '1' }).end(STARTING);
  };
  let draining = false;
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    if (draining) response.setHeader('connection', 'close');
    handle(request, response);
  };
  // A missing Host header is answered by the application, in its own words.
  const limits = { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: IDLE_TIMEOUT_MS };
  const server = createServer({ requireHostHeader: false, ...limits }, onRequest);
  server.on('checkExpectation', onRequest);
  server.listen({ host, port });
  await once(server, 'listening');
  const address = server.address();
  const boundPort = address !== null && typeof address === 'object' ? address.port : port;
  return {
    localUrl: `http://${reachableHost(host)}:${boundPort}`,
    server,
    serve(app) {
      handle = (request, response) => app.routing(request, response);
    },
    async close() {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
      await closed.finally(() => clearInterval(sweep));
    },
  };
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::' || host === 'localhost') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
