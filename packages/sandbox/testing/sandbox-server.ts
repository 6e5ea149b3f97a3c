import { ApiError } from '@svc/protocol';
import { connect } from '@svc/store';
import { createTestDatabase } from '@svc/store/testing';
import Fastify, { type FastifyInstance } from 'fastify';
import { sandbox } from '../src/index.ts';

export interface SandboxServer {
  /** The address of the sandbox, without a slash at its end. */
  readonly url: string;
  readonly rpcUrl: string;
  /** The same node, as the process itself reaches it. */
  ownRpcUrl(): string | undefined;
  readonly databaseUrl: string;
  /** Everything that the node complained of. */
  readonly complaints: readonly string[];
  stop(): Promise<void>;
}

/** The sandbox alone, behind HTTP, on a database of its own or a given one. */
export async function startSandbox(options: { databaseUrl?: string } = {}): Promise<SandboxServer> {
  const own = options.databaseUrl === undefined ? await createTestDatabase([sandbox.migrations]) : undefined;
  const databaseUrl = own?.url ?? options.databaseUrl ?? '';
  const db = connect(databaseUrl, { max: 3 });
  const complaints: string[] = [];
  const app = Fastify({ forceCloseConnections: true });
  app.log.error = (message: unknown) => complaints.push(String(message));
  app.setErrorHandler((error, _request, reply) => {
    const known = error instanceof ApiError ? error : new ApiError('internal_error');
    if (known.status >= 500) complaints.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return reply.code(known.status).send({ error: known.code, message: known.message });
  });
  app.setNotFoundHandler(() => {
    throw new ApiError('not_found');
  });
  let ownRpcUrl = (): string | undefined => undefined;
  const mount = async (scope: FastifyInstance) => {
    ({ ownRpcUrl } = await sandbox.mount(scope, db));
  };
  await app.register(mount, { prefix: '/sandbox' });
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/sandbox`;
  const stop = async () => {
    await app.close();
    await db.close();
    await own?.drop();
  };
  return { url, rpcUrl: `${url}/starknet/rpc`, ownRpcUrl: () => ownRpcUrl(), databaseUrl, complaints, stop };
}
