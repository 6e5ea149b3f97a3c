import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError, type ErrorBody } from '@svc/protocol';
import { isDatabaseUnavailable, TenantBusyError } from '@svc/store';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TracedRequest, Tracing } from '../util/trace.ts';
import { TooManyRequests } from './limits.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Of the reference, without a fragment. */
    referenceUrl?: string;
  }
  interface FastifyRequest {
    trace?: TracedRequest | undefined;
  }
}

export function addSecurityHeaders(app: FastifyInstance, publicUrl: string): void {
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply);
    if (publicUrl.startsWith('https:')) reply.header('strict-transport-security', 'max-age=31536000');
    done();
  });
}

/** For answers that Fastify gives before any hook runs, such as to a badly encoded URL. */
export function setHeadersOfEarlyAnswer(request: FastifyRequest, reply: FastifyReply): void {
  setHeaders(request, reply);
  if (request.headers.origin !== undefined) allowOrigin(reply);
}

function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('x-frame-options', 'DENY');
  reply.header('referrer-policy', 'no-referrer');
  reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  reply.header('cache-control', 'no-store');
}

const METHODS = 'GET, POST, PATCH, DELETE';
const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, last-event-id, x-api-key, x-request-id, x-svc-proof';
const ANSWER_HEADERS =
  'allow, idempotency-replayed, link, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, x-request-id, x-svc-ignored-fields';
const MAX_AGE_SECONDS = '86400';

/** All origins are allowed, without credentials: what a session's cookie reads or changes, no page of another origin sees. */
export function allowBrowsers(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers.origin !== undefined) allowOrigin(reply);
    done();
  });
  app.options('*', (_, reply) => {
    reply.header('access-control-allow-methods', METHODS);
    reply.header('access-control-allow-headers', REQUEST_HEADERS);
    reply.header('access-control-max-age', MAX_AGE_SECONDS);
    return reply.code(204).send();
  });
}

function allowOrigin(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*');
  reply.header('access-control-expose-headers', ANSWER_HEADERS);
}

/** Answers the methods that a path takes. Add it before the routes. */
export function collectMethods(app: FastifyInstance): (url: string) => string[] {
  const patterns = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url === '*') return;
    const known = patterns.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
    for (const name of [method].flat()) known.methods.add(name);
    patterns.set(url, known);
  });
  return (url) => {
    const path = url.split('?', 1)[0] ?? '';
    const matching = [...patterns.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))];
  };
}

const patternOf = (route: string) =>
  new RegExp(
    `^${route
      .replace(/[.()+?]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace(/\*/g, '.*')}$`,
  );

export function readRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
}

/** By hand, because serialising an object costs as much as a small request. Routes, not URLs: those hold gift codes and user ids. */
export function logRequests(app: FastifyInstance, writeLine: (line: string) => void): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { caller } = request;
    const route = request.routeOptions.url ?? 'unknown';
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const callerFields = caller
      ? `,"organizationId":"${caller.organizationId}","environment":"${caller.environment}","proof":"${caller.member ? 'session' : caller.proof}"`
      : '';
    writeLine(
      `{"level":30,"time":${Date.now()},"reqId":"${request.id}","method":"${request.method}","route":"${route}",` +
        `"status":${reply.statusCode},"ms":${ms}${callerFields},"msg":"request"}\n`,
    );
    done();
  });
}

/** A span for each request, within the caller's trace where it sends one. Without tracing there is no hook. */
export function traceRequests(app: FastifyInstance, tracing: Tracing | undefined): void {
  if (!tracing) return;
  app.decorateRequest('trace', undefined);
  app.addHook('onRequest', (request, _, done) => {
    const { method, id, headers } = request;
    const route = request.routeOptions.url ?? 'unknown';
    const attributes = { 'http.request.method': method, 'http.route': route, 'svc.request.id': id };
    const { traceparent } = headers;
    const parent = typeof traceparent === 'string' ? traceparent : undefined;
    request.trace = tracing.begin(`${method} ${route}`, attributes, parent);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    request.trace?.end(reply.statusCode);
    done();
  });
}

/** The embedded database is back within seconds; so is a standby that takes over. */
const UNAVAILABLE_SECONDS = 2;

export function replyWithError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = error instanceof ApiError ? error : (busy(error) ?? fromFramework(error as FastifyError));
  if (known.status >= 500 && known.code !== 'not_implemented') {
    request.log.error({ err: error, cause: known.cause, reqId: request.id }, known.message);
  }
  if (known.status === 429 && !reply.hasHeader('retry-after')) {
    reply.header('retry-after', known instanceof TooManyRequests ? known.retryAfterSeconds : 60);
  }
  if (known.code === 'service_unavailable') reply.header('retry-after', UNAVAILABLE_SECONDS);
  request.errorCode = known.code;
  linkReference(request, reply);
  return reply.code(known.status).type('application/json; charset=utf-8').send(errorBody(known));
}

/** RFC 8288: where the operation is explained. */
export function linkReference({ server, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  if (server.referenceUrl === undefined) return;
  const { operationId } = routeOptions.config ?? {};
  const fragment = operationId === undefined ? '' : `#${operationId}`;
  reply.header('link', `<${server.referenceUrl}${fragment}>; rel="help"`);
}

const LOCK_NOT_AVAILABLE = '55P03';
const BUSY_SECONDS = 1;

/** The caller's own organisation keeps the database busy; nothing was stored. */
function busy(error: unknown): ApiError | undefined {
  const isLocked = error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
  return isLocked || error instanceof TenantBusyError ? new TooManyRequests(BUSY_SECONDS) : undefined;
}

export const errorBody = ({ code, message }: ApiError): ErrorBody => ({ error: code, message });

function fromFramework(error: FastifyError): ApiError {
  const explanation = frameworkMessages[error.code];
  if (explanation) return new ApiError('invalid_request', explanation);
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new ApiError('invalid_request');
  }
  const code = isDatabaseUnavailable(error) ? 'service_unavailable' : 'internal_error';
  return new ApiError(code, undefined, { cause: error });
}

const frameworkMessages: Record<string, string> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is larger than 1 MiB.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The body must be JSON: send content-type application/json.',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as its content-length says.',
  FST_ERR_BAD_URL: 'The address is not validly encoded.',
};

export function replyToBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const explanation = tooLarge ? 'The headers are too large.' : 'This is not a valid HTTP request.';
  const body = JSON.stringify(errorBody(new ApiError('invalid_request', explanation)));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\nconnection: close\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
