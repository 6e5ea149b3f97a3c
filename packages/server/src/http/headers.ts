import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { allowOrigin } from './cors.ts';

/** What every answer says to browsers and caches. Pages of ours replace the content policy with their own. */
export function addSecurityHeaders(app: FastifyInstance, publicUrl: () => string): void {
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply);
    if (publicUrl().startsWith('https:')) reply.header('strict-transport-security', 'max-age=31536000');
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
