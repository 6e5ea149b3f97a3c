import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TracedRequest, Tracing } from '../util/trace.ts';

declare module 'fastify' {
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

export function allowOrigin(reply: FastifyReply): void {
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
