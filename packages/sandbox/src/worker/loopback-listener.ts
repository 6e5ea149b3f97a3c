import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { rpcErrors, showError } from '../rpc/context.ts';
import type { RpcAnswer } from '../rpc/rpc.ts';

/** As at the public address. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Closing an idle connection could break a request in flight. */
const KEEP_ALIVE_MS = 3_600_000;

/** Serves the service's own requests to the node, so that they do not burden the thread that serves HTTP. */
export function listenOnLoopback(
  port: number,
  rpc: (body: string) => Promise<RpcAnswer>,
  onListening: () => void,
  onError: (error: Error) => void,
): { close(): void } {
  const server = createServer((request, response) => {
    answerRequest(request, response, rpc).catch(() => response.destroy());
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('error', onError);
  server.listen(port, '127.0.0.1', onListening);
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answerRequest(
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
