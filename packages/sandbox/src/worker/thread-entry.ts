import { readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { ApiError } from '@svc/protocol/values';
import { useWebAssembly } from '@svc/starknet/wasm';
import { startNode } from '../node.ts';
import { listenOnLoopback } from './loopback-listener.ts';
import type { NodeReply, NodeRequest, NodeSettings } from './node-thread.ts';

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

useWebAssembly();
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
