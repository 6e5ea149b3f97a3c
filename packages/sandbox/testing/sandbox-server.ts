import { ApiError } from '@svc/protocol';
import { connect } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import Fastify from 'fastify';
import { type StartStarknet, sandbox } from '../src/index.ts';
import { startNode } from '../src/node.ts';
import { listenOnLoopback } from '../src/worker/loopback-listener.ts';
import { useThreadEngine } from './engine.ts';

export interface SandboxServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly rpcUrl: string;
  /** The node's own loopback address. */
  readonly ownRpcUrl: string;
  readonly databaseUrl: string;
  /** Errors reported by the node. */
  readonly complaints: readonly string[];
  stop(): Promise<void>;
}

/** The node in this thread, whose code is loaded and optimised: a thread of its own would start cold in every test file. */
export const inThisThread: StartStarknet = async ({ url, port }, reportError) => {
  useThreadEngine();
  const report = (error: unknown) =>
    reportError(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const node = await startNode({ url, report });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  const own = listenOnLoopback(port, (body) => node.rpc(body, '0.10.0'), resolve, report);
  await listening;
  const stop = async () => {
    own.close();
    await node.close();
  };
  return { rpc: node.rpc, command: node.command, stop };
};

interface SandboxOptions {
  readonly databaseUrl?: string;
  /** In a thread of its own, as the service runs it. */
  readonly thread?: boolean;
}

/** The sandbox behind HTTP, on its own database or a given one. */
export async function startSandbox(options: SandboxOptions = {}): Promise<SandboxServer> {
  const own = options.databaseUrl === undefined ? await TestDatabase.create([sandbox.migrations]) : undefined;
  const databaseUrl = own?.url ?? options.databaseUrl ?? '';
  const db = connect(databaseUrl, { max: 3 });
  const complaints: string[] = [];
  const app = Fastify({ forceCloseConnections: true });
  app.setErrorHandler((error, _request, reply) => {
    const known = error instanceof ApiError ? error : new ApiError('internal_error');
    if (known.status >= 500) complaints.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return reply.code(known.status).send({ error: known.code, message: known.message });
  });
  app.setNotFoundHandler(() => {
    throw new ApiError('not_found');
  });
  const complain = (message: string) => complaints.push(message);
  const node = await sandbox.start(db, complain, options.thread ? undefined : inThisThread);
  await app.register(async (scope) => node.mount(scope), { prefix: '/sandbox' });
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/sandbox`;
  const stop = async () => {
    await app.close();
    await node.stop();
    await db.close();
    await own?.drop();
  };
  return { url, rpcUrl: `${url}/starknet/rpc`, ownRpcUrl: node.rpcUrl, databaseUrl, complaints, stop };
}
