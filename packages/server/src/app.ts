import { ApiError, openApiDocument } from '@svc/protocol';
import type { Database } from '@svc/store';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Authenticator } from './auth/authenticate.ts';
import { type PagesDeps, registerPages } from './claim-page.ts';
import type { AdmissionControl } from './http/admission.ts';
import type { Handlers } from './http/call.ts';
import { registerEndpoints } from './http/endpoints.ts';
import { replyToBrokenRequest, replyWithError } from './http/error-reply.ts';
import { type Checks, createMetrics, type GaugeSource, type Health, registerOperations } from './http/monitoring.ts';
import type { RateLimiter } from './http/rate-limit.ts';
import {
  addSecurityHeaders,
  allowBrowsers,
  logRequests,
  readRequestId,
  setHeadersOfEarlyAnswer,
} from './http/request-hooks.ts';
import type { Log } from './log.ts';
import type { Fulfilment } from './purchases/provider.ts';
import { registerProviderCallback } from './purchases/provider-callback.ts';
import { registerReference } from './reference/page.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** Longer than any identifier of the interface, so that a long one is answered by its schema. */
const MAX_PARAMETER_LENGTH = 1_024;
/** A client that takes longer than this to send its request is not one of ours. */
const REQUEST_TIMEOUT_MS = 30_000;

export interface AppDeps {
  readonly db: Database;
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter;
  readonly clientLimiter: RateLimiter;
  readonly governor: AdmissionControl;
  readonly handlers: Handlers;
  readonly gauges: readonly GaugeSource[];
  readonly checks: Checks;
  readonly log: Log;
  readonly health: Health;
  /** How many proxies stand before the service. */
  readonly trustProxy: number;
  readonly metricsToken: string | undefined;
  /** The address that others see; known once the server listens. */
  readonly publicUrl: () => string;
  /** Who delivers purchases, and tells their results by itself. */
  readonly fulfilment: Fulfilment;
  /** What people see. A process that only runs jobs serves nothing but its own health. */
  readonly forPeople: PagesDeps | undefined;
}

/** The HTTP application, not listening yet. */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const http: FastifyInstance = Fastify({
    loggerInstance: deps.log.logger as FastifyBaseLogger,
    // Fastify would log addresses, and those hold gift codes; our own line names the route.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    trustProxy: deps.trustProxy > 0 && ((_, hops) => hops < deps.trustProxy),
    genReqId: readRequestId,
    requestIdHeader: false,
    // A logger of its own for each request costs more than the request's own line, which names the request itself.
    childLoggerFactory: (logger) => logger,
    // Requests that arrive on an open connection while we stop are still answered, with `connection: close`.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => {
      setHeadersOfEarlyAnswer(request, reply);
      replyWithError(error, request, reply);
    },
    clientErrorHandler: replyToBrokenRequest,
    // Node would refuse these by itself, with answers that are not ours.
    http: { requireHostHeader: false },
  });
  http.server.on('checkExpectation', (request, response) => http.routing(request, response));
  http.addHook('onRequest', requireHost);
  readJsonBodies(http);
  logRequests(http, deps.log.writeLine);
  addSecurityHeaders(http, deps.publicUrl);
  http.setErrorHandler(replyWithError);
  http.setNotFoundHandler(() => {
    throw new ApiError('not_found');
  });
  allowBrowsers(http);

  const metrics = createMetrics(http, deps.db, deps.gauges);
  registerOperations(http, { ...deps, metrics });
  if (deps.forPeople) {
    registerReference(http, deps.publicUrl);
    registerPages(http, deps.forPeople);
    await http.register(async (v1) => registerInterface(v1, deps), { prefix: '/v1' });
  }
  return http;
}

function registerInterface(v1: FastifyInstance, deps: AppDeps): void {
  v1.get('/openapi.json', async () => openApiDocument(`${deps.publicUrl()}/v1`));
  registerEndpoints(v1, deps);
  v1.register(async (scope) => registerProviderCallback(scope, deps));
}

/** HTTP/1.1 asks for it, and whoever leaves it out is not a client that we know. */
function requireHost(request: FastifyRequest, _: FastifyReply, done: (error?: Error) => void): void {
  const missing = request.headers.host === undefined && request.raw.httpVersion === '1.1';
  done(missing ? new ApiError('invalid_request', 'The Host header is missing.') : undefined);
}

/** JSON or nothing. An empty body is no body, whatever its content type says: many clients send one with DELETE. */
function readJsonBodies(http: FastifyInstance): void {
  const parse = http.getDefaultJsonParser('error', 'error');
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    return parse(request, body as string, done);
  });
}
