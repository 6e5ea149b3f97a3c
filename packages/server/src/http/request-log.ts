import type { FastifyInstance } from 'fastify';

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
