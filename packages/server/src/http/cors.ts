import type { FastifyInstance, FastifyReply } from 'fastify';

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
