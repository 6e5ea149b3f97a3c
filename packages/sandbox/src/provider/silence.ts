import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Nobody who asks waits for longer. */
const MAX_SILENCE_MS = 120_000;

/** Keeps requests without an answer until their client gives up; a process that stops does not wait for them. */
export class Silence {
  readonly #kept = new Set<ServerResponse>();

  constructor(app: FastifyInstance) {
    app.addHook('preClose', async () => {
      for (const response of this.#kept) response.destroy();
    });
  }

  keep(reply: FastifyReply): FastifyReply {
    const response = reply.hijack().raw;
    const timer = setTimeout(() => response.destroy(), MAX_SILENCE_MS);
    this.#kept.add(response);
    response.once('close', () => {
      clearTimeout(timer);
      this.#kept.delete(response);
    });
    return reply;
  }
}
