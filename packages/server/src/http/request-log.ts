import type { FastifyInstance } from 'fastify';

/**
 * One line for each request, with the route's pattern in place of its address: an address can hold a gift code, which
 * is as good as the money, or a user's identifier. Headers and bodies are never logged.
 */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { caller } = request;
    app.log.info(
      {
        reqId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ...(caller && { organizationId: caller.organizationId, environment: caller.environment, proof: caller.proof }),
      },
      'request',
    );
    done();
  });
}
