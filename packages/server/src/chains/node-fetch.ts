import { ApiError } from '@svc/protocol';
import { LibraryError } from 'starknet';

/** For one attempt. Live nodes answer a page of events in about two seconds. */
export const NODE_TIMEOUT_MS = 10_000;
/** A page of 1,024 events has about 0.5 MB. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Nothing was delivered. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export const nodeUse = { requests: 0, failures: 0, ms: 0 };

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A complete JSON-RPC answer in time, or a `NodeFailure`. Messages name the host only: URLs may hold API keys. */
export function nodeFetch(timeoutMs: number = NODE_TIMEOUT_MS, isAnswer: IsAnswer = isCommonAnswer): Fetch {
  return async (url, init) => {
    const { host } = new URL(url instanceof Request ? url.url : url);
    const text = await measured(async () => {
      const answer = await exchange(host, timeoutMs, url, init);
      requireRpcAnswer(host, answer, isAnswer);
      return answer;
    });
    return new Response(text, { headers: { 'content-type': 'application/json' } });
  };
}

async function measured<T>(request: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  nodeUse.requests += 1;
  try {
    return await request();
  } catch (error) {
    nodeUse.failures += 1;
    throw error;
  } finally {
    nodeUse.ms += performance.now() - startedAt;
  }
}

async function exchange(host: string, timeoutMs: number, url: Parameters<Fetch>[0], init?: RequestInit) {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { ...init, signal, redirect: 'error' });
    if (response.ok) return await readText(response);
    await response.body?.cancel();
    throw new NodeFailure(`${host} answered HTTP ${response.status}`, { unclear: response.status >= 500 });
  } catch (error) {
    if (error instanceof NodeFailure) throw error;
    throw transportFailure(host, timeoutMs, error);
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function transportFailure(host: string, timeoutMs: number, error: unknown): NodeFailure {
  const late = error instanceof Error && error.name === 'TimeoutError';
  if (late) return new NodeFailure(`${host} did not answer within ${timeoutMs} ms`, { unclear: true, cause: error });
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  const unclear = code === undefined || !NOT_CONNECTED.has(code);
  const why = code ?? (cause instanceof Error ? cause.message : String(cause));
  return new NodeFailure(`${host} gave no answer (${why})`, { unclear, cause: error });
}

/** Other errors, such as a used-up quota, say nothing about the request's outcome. */
function requireRpcAnswer(host: string, text: string, isAnswer: IsAnswer): void {
  const answer = parseObject(text);
  if (!answer || !('result' in answer || 'error' in answer)) {
    throw new NodeFailure(`${host} did not answer with JSON-RPC`, { unclear: true });
  }
  const { error } = answer;
  if (error === undefined || (error === null && 'result' in answer)) return;
  const { code, message } = (error ?? {}) as Record<string, unknown>;
  if (typeof code === 'number' && isAnswer({ code, message: String(message) })) return;
  throw new NodeFailure(`${host} answered error ${typeof code === 'number' ? code : 'without a code'}`, {
    unclear: true,
  });
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Extends starknet.js's error class because the library flattens all others. */
export class NodeFailure extends LibraryError {
  /** The request may have been processed although no answer came. */
  readonly unclear: boolean;

  constructor(message: string, options: { unclear: boolean; cause?: unknown }) {
    super(message);
    this.name = 'NodeFailure';
    this.unclear = options.unclear;
    this.cause = options.cause;
  }
}

export class ChainUnavailableError extends ApiError {
  constructor(chain: string, options?: ErrorOptions) {
    super('chain_unavailable', `No node of ${chain} answers at the moment. Try again.`, options);
  }
}

/** The node is on another chain than configured. Nothing is sent to it. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError';
}

const MAX_CAUSES = 10;

export function failureIn(error: unknown): NodeFailure | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    if (current instanceof NodeFailure) return current;
    current = current.cause;
  }
  return undefined;
}

export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
}

/** Whether every other node would answer the same. */
export type IsAnswer = (error: RpcErrorBody) => boolean;

const INVALID_PARAMS = -32602;

/** Errors about blocks, contracts and transactions. Left out are those about the node itself: 1, 31, 32, 33, 34, 38, 42, 63. */
const STARKNET_ANSWERS: ReadonlySet<number> = new Set([
  ...[10, 20, 21, 22, 24, 25, 26, 27, 28, 29, 40, 41],
  ...[50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 64, 65],
  INVALID_PARAMS,
]);

export const isStarknetAnswer: IsAnswer = ({ code }) => STARKNET_ANSWERS.has(code);

/** Nodes agree on 3 for a revert; older ones use other codes and say so in the message. */
export const isEvmAnswer: IsAnswer = ({ code, message }) =>
  code === 3 || code === INVALID_PARAMS || (isServers(code) && /\brevert/i.test(message));

const NOT_UNDERSTOOD: ReadonlySet<number> = new Set([-32700, -32600, INVALID_PARAMS]);

/** For services without a list of their own: excludes the server range of JSON-RPC and codes taken from HTTP. */
export const isCommonAnswer: IsAnswer = (error) => {
  const { code } = error;
  if (NOT_UNDERSTOOD.has(code) || isEvmAnswer(error)) return true;
  return code > 0 && code !== 63 && !(code >= 400 && code <= 599);
};

const isServers = (code: number) => code >= -32099 && code <= -32000;
