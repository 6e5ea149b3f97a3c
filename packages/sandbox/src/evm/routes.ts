import { ApiError } from '@svc/protocol';
import type { Db } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { EvmChains, type EvmOptions } from './chains.ts';
import { respond } from './json-rpc.ts';
import { failure, PARSE_ERROR } from './rpc-error.ts';
import { parseEvmChain } from './tokens.ts';

/** A batch of the largest transactions does not fit, any other batch does. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Serves `POST /evm/:chain/rpc` and answers the chains, for the faucet. Nothing of the engine is loaded before its first use. */
export function registerEvm(app: FastifyInstance, db: Db, options?: EvmOptions): EvmChains {
  const chains = new EvmChains(db, options);
  app.register(async (scope) => {
    readBodiesAsText(scope);
    scope.post<{ Params: { chain: string } }>(
      '/evm/:chain/rpc',
      { bodyLimit: MAX_BODY_BYTES },
      async ({ params, body }, reply) => {
        const chain = parseEvmChain(params.chain);
        if (!chain) throw new ApiError('not_found');
        const answer = await answerText(String(body ?? ''), (value) => chains.node(chain).handle(value));
        return answer === undefined ? reply.code(204).send() : reply.send(answer);
      },
    );
  });
  return chains;
}

/** JSON-RPC has an answer of its own for a body that is no JSON, so reading it is left to the route. */
function readBodiesAsText(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
}

async function answerText(text: string, handle: (body: unknown) => Promise<unknown>): Promise<unknown> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return respond(null, failure(PARSE_ERROR, 'The body is not JSON.'));
  }
  return handle(body);
}
