import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** What every answer says to browsers and caches. Pages of ours replace the content policy with their own. */
export function addSecurityHeaders(app: FastifyInstance, publicUrl: string): void {
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply);
    if (publicUrl.startsWith('https:')) reply.header('strict-transport-security', 'max-age=31536000');
    done();
  });
}

/** For answers that Fastify gives before any hook runs, such as to a badly encoded address. */
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
const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, x-api-key, x-request-id';
const ANSWER_HEADERS =
  'idempotency-replayed, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, x-request-id';
/** A browser may remember for a day what it may send. */
const MAX_AGE_SECONDS = '86400';

/**
 * Browsers may call with the public key. Credentials travel in headers, never in cookies, so a page of one origin can do
 * no more than a page of any other, and all are let in.
 */
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

/** The caller's own request id where it is harmless in a log, else a new one. */
export function readRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
}

/**
 * One line for each request, with the route's pattern in place of its address: an address can hold a gift code, which
 * is as good as the money, or a user's identifier. Headers and bodies are never logged.
 *
 * The line is put together by hand because a logger that serialises whatever it is given takes as long as the rest of
 * a small request. Everything in it is text of ours or of a form that needs no escaping.
 */
export function logRequests(app: FastifyInstance, writeLine: (line: string) => void): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { caller } = request;
    const route = request.routeOptions.url ?? 'unknown';
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const who = caller
      ? `,"organizationId":"${caller.organizationId}","environment":"${caller.environment}","proof":"${caller.proof}"`
      : '';
    writeLine(
      `{"level":30,"time":${Date.now()},"reqId":"${request.id}","method":"${request.method}","route":"${route}",` +
        `"status":${reply.statusCode},"ms":${ms}${who},"msg":"request"}\n`,
    );
    done();
  });
}
