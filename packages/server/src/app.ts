import type { Server } from 'node:http';
import serializers from '@fastify/fast-json-stringify-compiler';
import { ApiError, openApiDocument } from '@svc/protocol';
import type { Database } from '@svc/store';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { limitFailures } from './auth/authenticate.ts';
import { type Config, MAX_PER_MINUTE } from './config.ts';
import type { Authenticate } from './http/call.ts';
import { admitUnrouted, registerEndpoints, type UnroutedDeps } from './http/endpoints.ts';
import type { KeyWaiters } from './http/idempotency.ts';
import { type AdmissionControl, RateLimiter, type RequestLimits } from './http/limits.ts';
import { createMetrics, type Health, registerOperations, watchForwarding } from './http/monitoring.ts';
import {
  addSecurityHeaders,
  allowBrowsers,
  collectMethods,
  logRequests,
  readRequestId,
  replyToBrokenRequest,
  replyWithError,
  setHeadersOfEarlyAnswer,
  traceRequests,
} from './http/request-hooks.ts';
import { type RequestLog, writeRequestLog } from './http/request-log.ts';
import type { Modules } from './modules.ts';
import { registerLogos } from './organizations/settings.ts';
import { registerPages, type ServedPages, sendNotFoundPage } from './pages.ts';
import { registerReference } from './reference/page.ts';
import type { Tracing } from './util/trace.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** Tabs that a member leaves open, each as busy as a key. */
const PAGES_OF_MEMBER = 10;
/** Longer than any identifier of the interface, so that a long one is answered by its schema. */
const MAX_PARAMETER_LENGTH = 1_024;

export interface AppDeps extends Pick<Modules, 'handlers' | 'gauges' | 'checks' | 'routes'> {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly writeLine: (line: string) => void;
  /** Listens already; the application becomes its handler once it is ready. */
  readonly server: Server;
  readonly health: Health;
  readonly admission: AdmissionControl;
  readonly keyWaiters: KeyWaiters;
  readonly authenticate: Authenticate;
  readonly publicUrl: string;
  /** Undefined where it is switched off. */
  readonly requestLog: RequestLog | undefined;
  readonly tracing: Tracing | undefined;
  /** Undefined in a process that only runs jobs: it serves nothing but its health and metrics. */
  readonly pages: ServedPages | undefined;
}

export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const { config, db, publicUrl } = deps;
  const limits: RequestLimits = {
    requests: new RateLimiter(db.control, config.requestsPerMinute),
    usersOfKey: new RateLimiter(db.control, config.publicKeyPerMinute),
    clients: new RateLimiter(db.control, config.claimsPerMinute),
    sessions: new RateLimiter(db.control, Math.min(config.requestsPerMinute * PAGES_OF_MEMBER, MAX_PER_MINUTE)),
  };
  const failures = new RateLimiter(db.control, config.failedAuthPerMinute);
  const keyed = { authenticate: limitFailures(deps.authenticate, failures, deps.log), limits };
  const app: FastifyInstance = Fastify({
    serverFactory: () => deps.server,
    loggerInstance: deps.log as FastifyBaseLogger,
    // Fastify would log addresses, and those hold gift codes; our own line names the route.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    trustProxy: config.trustProxy > 0 && ((_, hops) => hops < config.trustProxy),
    genReqId: readRequestId,
    requestIdHeader: false,
    // A logger of its own for each request costs more than the request's own line, which names the request itself.
    childLoggerFactory: (logger) => logger,
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      setHeadersOfEarlyAnswer(request, reply);
      admitUnrouted(keyed, request, reply).then(
        () => replyWithError(error, request, reply),
        (refusal: unknown) => replyWithError(refusal, request, reply),
      );
    },
    clientErrorHandler: replyToBrokenRequest,
  });
  app.addHook('onRequest', requireHost);
  readJsonBodies(app);
  writeJsonLazily(app);
  logRequests(app, deps.writeLine);
  addSecurityHeaders(app, publicUrl);
  app.setErrorHandler(replyWithError);
  const methodsAt = collectMethods(app);
  app.decorate('referenceUrl', `${publicUrl}/docs`);
  app.setNotFoundHandler(async (request, reply) => {
    await admitUnrouted(keyed, request, reply);
    const methods = methodsAt(request.url);
    if (methods.length > 0 && !methods.includes(request.method)) {
      reply.header('allow', methods.join(', '));
      throw new ApiError('method_not_allowed', `This address takes ${methods.join(', ')}, not ${request.method}.`);
    }
    if (deps.pages && sendNotFoundPage(deps.pages, request, reply)) return reply;
    throw new ApiError('not_found');
  });
  allowBrowsers(app);

  const metrics = createMetrics(app, db, deps.gauges);
  watchForwarding(app, deps.health, config.trustProxy > 0);
  registerOperations(app, {
    db,
    health: deps.health,
    checks: deps.checks,
    metrics,
    metricsToken: config.metricsToken,
    isBehindProxy: config.trustProxy > 0 || config.publicUrl !== undefined,
  });
  if (deps.pages) {
    registerReference(app, publicUrl, deps.pages.pages.html.docs);
    registerPages(app, deps.pages);
    registerLogos(app, db.reads);
    await app.register(async (v1) => registerInterface(v1, deps, keyed), { prefix: '/v1' });
  }
  return app;
}

function registerInterface(v1: FastifyInstance, deps: AppDeps, keyed: UnroutedDeps): void {
  const { db, publicUrl } = deps;
  writeRequestLog(v1, deps.requestLog);
  traceRequests(v1, deps.tracing);
  v1.get('/openapi.json', async () => openApiDocument(`${publicUrl}/v1`));
  registerEndpoints(v1, {
    db,
    ...keyed,
    admission: deps.admission,
    keyWaiters: deps.keyWaiters,
    handlers: deps.handlers,
  });
  for (const register of deps.routes) v1.register(register);
}

/** HTTP/1.1 requires it. */
function requireHost(request: FastifyRequest, _: FastifyReply, done: (error?: Error) => void): void {
  const missing = request.headers.host === undefined && request.raw.httpVersion === '1.1';
  done(missing ? new ApiError('invalid_request', 'The Host header is missing.') : undefined);
}

/** JSON or nothing. An empty body counts as none with any content type: many clients send one with DELETE. */
function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    return parse(request, body as string, done);
  });
}

const compile = serializers.SerializerSelector()();
/** One for each schema: many routes share one. */
const writers = new WeakMap<object, ReturnType<typeof compile>>();

/** Fastify would compile the schemas of every answer at the start: half a second for those that are never sent. */
function writeJsonLazily(app: FastifyInstance): void {
  app.setSerializerCompiler((route) => (body) => {
    const known = writers.get(route.schema as object);
    if (known) return known(body);
    const write = compile({ ...route, httpStatus: route.httpStatus ?? '' });
    writers.set(route.schema as object, write);
    return write(body);
  });
}
