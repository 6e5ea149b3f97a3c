import { readlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { ApiError } from '@svc/protocol/values';
import { startNode } from '../node.ts';
import { rpcErrors, showError } from '../rpc/context.ts';
import type { RpcAnswer } from '../rpc/rpc.ts';
import type { NodeReply, NodeRequest, NodeSettings } from './node-thread.ts';

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

/** As the shell's `nice`: about a tenth of a normal thread's share under load, a whole core otherwise. */
const NICENESS = 10;

/** Serving threads go first. Relative to the process, which may itself be nice. Only Linux has a priority per thread. */
function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (!Number.isSafeInteger(thread) || thread <= 0) return;
    setPriority(thread, Math.min(constants.priority.PRIORITY_LOW, getPriority(thread) + NICENESS));
  } catch {
    // Not Linux, or not permitted: the thread keeps its priority.
  }
}

// Parsing, hashing, signatures and execution would block every other request.
const port = parentPort;
if (!port) throw new Error('This file is started as a worker thread.');
const post = (message: NodeReply) => port.postMessage(message);
const report = (error: unknown) => post({ kind: 'fault', message: textOf(error) });

const { url, port: ownPort } = workerData as NodeSettings;
const node = startNode({ url, report });
const ownRpc = async (body: string) => (await node).rpc(body, '0.10.0');
const own =
  ownPort === undefined ? undefined : listenOnLoopback(ownPort, ownRpc, () => post({ kind: 'listening' }), report);
lowerPriority();

port.on('message', (request: NodeRequest) => {
  if (request.kind === 'stop') return void stop();
  answer(request).catch((error: unknown) => {
    const code = error instanceof ApiError ? { code: error.code } : {};
    post({
      id: request.id,
      kind: 'failed',
      ...code,
      message: error instanceof ApiError ? error.message : textOf(error),
    });
  });
});

async function answer(request: Exclude<NodeRequest, { kind: 'stop' }>): Promise<void> {
  const { rpc, command } = await node;
  if (request.kind === 'rpc') {
    post({ id: request.id, kind: 'rpc', answer: await rpc(request.body, request.spec, request.access) });
  } else post({ id: request.id, kind: 'command', answer: await command(request.command) });
}

async function stop(): Promise<void> {
  own?.close();
  await (await node).close();
  port?.close();
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
