import { ApiError } from '@svc/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { NodeGoneError, type RunningNode } from '../worker/node-thread.ts';
import { type RpcError, rpcErrors, type SpecVersion, showError } from './context.ts';
import type { RpcAccess } from './rpc.ts';

/** Large enough for any transaction and most declared classes. */
const MAX_BODY_BYTES = 1024 * 1024;

const specs: Readonly<Record<string, SpecVersion>> = {
  v0_9: '0.9.0',
  v0_10: '0.10.0',
};

/** `POST /starknet/rpc` and `/starknet/rpc/v0_9`: bodies pass to the node's thread unparsed. */
export function registerRpc(app: FastifyInstance, node: RunningNode): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
    scope.setErrorHandler(async (error, request, reply) => {
      // Left to the application.
      if (error instanceof ApiError) throw error;
      if (error instanceof NodeGoneError) return fail(reply, 503, rpcErrors.internal(error.message));
      const status = statusOf(error);
      if (status === 413) return fail(reply, 413, rpcErrors.invalidRequest('The body is larger than 1 MiB.'));
      if (status >= 500) request.log.error({ err: error }, 'JSON-RPC failed');
      return fail(reply, status, status >= 500 ? rpcErrors.internal() : rpcErrors.invalidRequest());
    });
    const options = { bodyLimit: MAX_BODY_BYTES };
    scope.post('/starknet/rpc', options, ({ body }, reply) => answer(reply, node, body, '0.10.0'));
    scope.post<{ Params: { version: string } }>('/starknet/rpc/:version', options, (request, reply) => {
      const spec = specs[request.params.version];
      if (!spec) throw new ApiError('not_found');
      return answer(reply, node, request.body, spec);
    });
    // For pages that ask again and again: they must not use up ordered faults.
    scope.post('/explorer/api/rpc', options, ({ body }, reply) => answer(reply, node, body, '0.10.0', 'reader'));
  });
}

async function answer(
  reply: FastifyReply,
  node: RunningNode,
  body: unknown,
  spec: SpecVersion,
  access?: RpcAccess,
): Promise<FastifyReply> {
  const { status, body: text, hangUp } = await node.rpc(typeof body === 'string' ? body : '', spec, access);
  if (hangUp) {
    reply.hijack();
    reply.raw.destroy();
    return reply;
  }
  return reply.code(status).type('application/json; charset=utf-8').send(text);
}

function fail(reply: FastifyReply, status: number, error: RpcError): FastifyReply {
  return reply.code(status).send({ jsonrpc: '2.0', id: null, error: showError(error) });
}

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : 500;
}
