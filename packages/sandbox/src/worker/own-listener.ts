import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { RpcAnswer } from '../rpc/answer.ts';
import { rpcErrors, showError } from '../rpc/rpc-error.ts';

/** As of the public address. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Its one client keeps connections open; closing them under it would make sends unclear. */
const KEEP_ALIVE_MS = 3_600_000;

/**
 * The node behind a port of its own, on loopback, for the process that it runs in: what the service asks of the chain then costs
 * the thread that serves everyone else nothing.
 */
export function listenForOwn(
  port: number,
  rpc: (body: string) => Promise<RpcAnswer>,
  onListening: () => void,
): { close(): void } {
  const server = createServer((request, response) => {
    answer(request, response, rpc).catch(() => response.destroy());
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // Whoever else took the port: the service falls back to the public address.
  server.on('error', () => {});
  server.listen(port, '127.0.0.1', onListening);
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  rpc: (body: string) => Promise<RpcAnswer>,
): Promise<void> {
  const text = await readBody(request);
  if (text === undefined) return reply(response, 413, rpcErrors.invalidRequest('The body is larger than 1 MiB.'));
  const { status, body, hangUp } = await rpc(text);
  if (hangUp) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(body);
}

function reply(response: ServerResponse, status: number, error: ReturnType<typeof rpcErrors.invalidRequest>): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: showError(error) });
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(body);
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
