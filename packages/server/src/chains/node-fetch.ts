import { ApiError } from '@svc/protocol';
import { LibraryError } from 'starknet';

/** For one try at one node. Live nodes answer the slowest of our questions, a page of events, in about two seconds. */
export const NODE_TIMEOUT_MS = 10_000;
/** A page of 1,024 events has about half a megabyte. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** The connection was never made, so nothing was delivered. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What this process asked of nodes so far, for its metrics. */
export const nodeUse = { requests: 0, failures: 0, ms: 0 };

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` for JSON-RPC: answers with a JSON-RPC result or an error that is an answer, whole and within the time, or throws a
 * `NodeFailure`. Messages name the host alone, because the rest of an address often holds a key.
 */
export function nodeFetch(timeoutMs: number = NODE_TIMEOUT_MS, isAnswer: IsAnswer = isCommonAnswer): Fetch {
  return async (url, init) => {
    const { host } = new URL(url instanceof Request ? url.url : url);
    const text = await measured(async () => {
      const answer = await exchange(host, timeoutMs, url, init);
      refuseTrouble(host, answer, isAnswer);
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

/** Whatever else a node says, for instance that a quota is used up, says nothing of what became of the request. */
function refuseTrouble(host: string, text: string, isAnswer: IsAnswer): void {
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

/** starknet.js passes errors of its own kind on as they are and flattens all others, so this is one of them. */
export class NodeFailure extends LibraryError {
  /** True when the request may have reached the node and been obeyed, although no answer came. */
  readonly unclear: boolean;

  constructor(message: string, options: { unclear: boolean; cause?: unknown }) {
    super(message);
    this.name = 'NodeFailure';
    this.unclear = options.unclear;
    this.cause = options.cause;
  }
}

/** None of a chain's nodes gave an answer. Why is the operator's business, and in `cause`. */
export class ChainUnavailableError extends ApiError {
  constructor(chain: string, options?: ErrorOptions) {
    super('chain_unavailable', `No node of ${chain} answers at the moment. Try again.`, options);
  }
}

/** A node that is on another chain than the configuration says: nothing may be asked of it or sent to it. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError';
}

/** Libraries wrap what their transport throws, a few levels deep at most. */
const MAX_CAUSES = 10;

export function failureIn(error: unknown): NodeFailure | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    if (current instanceof NodeFailure) return current;
    current = current.cause;
  }
  return undefined;
}

/** A JSON-RPC error as a node sends it. */
export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
}

/** Whether an error speaks of the chain or of the question, so that every other node would answer the same. */
export type IsAnswer = (error: RpcErrorBody) => boolean;

const INVALID_PARAMS = -32602;

/**
 * The errors of the Starknet specification that speak of blocks, contracts and transactions. Left out are those by which a node
 * speaks of itself: 1 (could not take it), 31 and 34 (its limits), 32 (has no blocks), 33 (a continuation it forgot), 38, 42, 63.
 */
const STARKNET_ANSWERS: ReadonlySet<number> = new Set([
  ...[10, 20, 21, 22, 24, 25, 26, 27, 28, 29, 40, 41],
  ...[50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 64, 65],
  INVALID_PARAMS,
]);

export const isStarknetAnswer: IsAnswer = ({ code }) => STARKNET_ANSWERS.has(code);

/** Nodes of EVM chains agree on 3 for a revert; older ones have numbers of their own and say it in words. */
export const isEvmAnswer: IsAnswer = ({ code, message }) =>
  code === 3 || code === INVALID_PARAMS || (isServers(code) && /\brevert/i.test(message));

/** Errors that say that the question was not understood. */
const NOT_UNDERSTOOD: ReadonlySet<number> = new Set([-32700, -32600, INVALID_PARAMS]);

/** Without a list of a service's own errors: not what JSON-RPC keeps for servers, nor what gateways take from HTTP. */
export const isCommonAnswer: IsAnswer = (error) => {
  const { code } = error;
  if (NOT_UNDERSTOOD.has(code) || isEvmAnswer(error)) return true;
  return code > 0 && code !== 63 && !(code >= 400 && code <= 599);
};

const isServers = (code: number) => code >= -32099 && code <= -32000;
