import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ApiError, type ErrorCode } from '@svc/protocol';
import type { Command } from '../controls/commands.ts';
import type { SpecVersion } from '../rpc/context.ts';
import type { RpcAccess, RpcAnswer } from '../rpc/rpc.ts';

const ENTRY = new URL('./thread-entry.ts', import.meta.url);
/** Each pending request holds a connection and a body. */
const MAX_PENDING = 2_000;
/** Bounds the memory of large bodies. */
const MAX_PENDING_CHARS = 64 * 1024 * 1024;
/** A runaway node is killed and restarted; the service continues. */
const MAX_MEMORY_MB = 512;
/** Limits the CPU time of a thread that keeps dying. */
const RESTART_MS = 500;
/** Storing the last batch takes milliseconds. */
const STOP_MS = 5_000;

interface Pending {
  readonly chars: number;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export class NodeGoneError extends Error {
  override readonly name = 'NodeGoneError';
}

export interface RunningNode {
  rpc(body: string, spec: SpecVersion, access?: RpcAccess): Promise<RpcAnswer>;
  command(command: Command): Promise<unknown>;
}

export class NodeThread implements RunningNode {
  readonly #settings: NodeSettings;
  readonly #report: (message: string) => void;
  readonly #entry: URL;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #nextId = 1;
  #pendingChars = 0;
  #stopping = false;
  readonly #firstListening = Promise.withResolvers<void>();

  constructor(settings: NodeSettings, report: (message: string) => void, entry = ENTRY) {
    this.#settings = settings;
    this.#report = report;
    this.#entry = entry;
    this.#start();
  }

  async listening(limitMs: number): Promise<void> {
    await Promise.race([this.#firstListening.promise, pause(limitMs, undefined, { ref: false })]);
  }

  rpc(body: string, spec: SpecVersion, access: RpcAccess = 'client'): Promise<RpcAnswer> {
    return this.#send((id) => ({ id, kind: 'rpc', body, spec, access }), body.length) as Promise<RpcAnswer>;
  }

  command(command: Command): Promise<unknown> {
    return this.#send((id) => ({ id, kind: 'command', command }), 0);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const worker = this.#worker;
    if (!worker) return;
    const gone = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ kind: 'stop' } satisfies NodeRequest);
    await Promise.race([gone, pause(STOP_MS, undefined, { ref: false })]);
    await worker.terminate();
  }

  #send(requestOf: (id: number) => NodeRequest, chars: number): Promise<unknown> {
    const worker = this.#worker;
    if (!worker) return Promise.reject(new NodeGoneError('The node is starting again.'));
    if (this.#pending.size >= MAX_PENDING || this.#pendingChars + chars > MAX_PENDING_CHARS) {
      return Promise.reject(new NodeGoneError('The node has too much to do.'));
    }
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { chars, resolve, reject });
      this.#pendingChars += chars;
      worker.postMessage(requestOf(id));
    });
  }

  #start(): void {
    const worker = new Worker(this.#entry, {
      workerData: this.#settings,
      // The flags of the parent process, such as a test runner's, do not apply to the thread.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    });
    this.#worker = worker;
    worker.on('message', (message: NodeReply) => this.#receive(message));
    worker.on('error', (error) => this.#report(`The node's thread died: ${textOf(error)}`));
    worker.on('exit', () => void this.#onExit());
  }

  #receive(message: NodeReply): void {
    if (message.kind === 'fault') {
      this.#report(message.message);
      return;
    }
    if (message.kind === 'listening') {
      this.#firstListening.resolve();
      return;
    }
    const pending = this.#pending.get(message.id);
    if (!pending) return;
    this.#pending.delete(message.id);
    this.#pendingChars -= pending.chars;
    if (message.kind === 'failed') pending.reject(errorOf(message));
    else pending.resolve(message.answer);
  }

  async #onExit(): Promise<void> {
    this.#worker = undefined;
    for (const { reject } of this.#pending.values()) reject(new NodeGoneError('The node died and starts again.'));
    this.#pending.clear();
    this.#pendingChars = 0;
    if (this.#stopping) return;
    await pause(RESTART_MS, undefined, { ref: false });
    if (!this.#stopping) this.#start();
  }
}

function errorOf({ code, message }: Extract<NodeReply, { kind: 'failed' }>): Error {
  return code ? new ApiError(code, message) : new Error(message);
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

export type NodeRequest =
  | {
      readonly id: number;
      readonly kind: 'rpc';
      readonly body: string;
      readonly spec: SpecVersion;
      readonly access: RpcAccess;
    }
  | { readonly id: number; readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'stop' };

export type NodeReply =
  | { readonly id: number; readonly kind: 'rpc'; readonly answer: RpcAnswer }
  | { readonly id: number; readonly kind: 'command'; readonly answer: unknown }
  | { readonly id: number; readonly kind: 'failed'; readonly code?: ErrorCode; readonly message: string }
  | { readonly kind: 'fault'; readonly message: string }
  | { readonly kind: 'listening' };

export interface NodeSettings {
  readonly url: string;
  /** Loopback port of the thread; undefined: none. */
  readonly port?: number;
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
