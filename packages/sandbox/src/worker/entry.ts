import { parentPort, workerData } from 'node:worker_threads';
import { ApiError } from '@svc/protocol';
import { startNode } from '../node.ts';
import { giveWay } from './give-way.ts';
import type { Ask, NodeSettings, Tell } from './messages.ts';
import { listenForOwn } from './own-listener.ts';

// The node's own thread: parsing, hashing, signatures and execution would otherwise hold up every other request.
const port = parentPort;
if (!port) throw new Error('This file is started as a worker thread.');
const tell = (message: Tell) => port.postMessage(message);
const report = (error: unknown) => tell({ kind: 'fault', message: textOf(error) });

const { url, port: ownPort } = workerData as NodeSettings;
const node = startNode({ url, report });
const ownRpc = async (body: string) => (await node).rpc(body, '0.10.0');
const own = ownPort === undefined ? undefined : listenForOwn(ownPort, ownRpc, () => tell({ kind: 'listening' }));
giveWay();

port.on('message', (ask: Ask) => {
  if (ask.kind === 'stop') return void stop();
  answer(ask).catch((error: unknown) => {
    const code = error instanceof ApiError ? { code: error.code } : {};
    tell({ id: ask.id, kind: 'failed', ...code, message: error instanceof ApiError ? error.message : textOf(error) });
  });
});

async function answer(ask: Exclude<Ask, { kind: 'stop' }>): Promise<void> {
  const { rpc, command } = await node;
  if (ask.kind === 'rpc') tell({ id: ask.id, kind: 'rpc', answer: await rpc(ask.body, ask.spec) });
  else tell({ id: ask.id, kind: 'command', answer: await command(ask.command) });
}

async function stop(): Promise<void> {
  own?.close();
  await (await node).close();
  port?.close();
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
