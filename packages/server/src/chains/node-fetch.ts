import http from 'node:http';
import https from 'node:https';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ApiError, isObject } from '@svc/protocol';
import { LibraryError } from 'starknet';

/** For one attempt. Live nodes answer a page of events in about two seconds. */
export const NODE_TIMEOUT_MS = 10_000;
/** A page of 1,024 events has about 0.5 MB. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Below what servers keep an idle connection for: a request on one that is being closed would be lost. */
const IDLE_MS = 4_000;

const TOO_MANY_REQUESTS = 429;

/** Nothing was delivered. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Calls: a request may hold several. */
export const nodeUse = { requests: 0, calls: 0, failures: 0, ms: 0 };

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A complete JSON-RPC answer in time, or a `NodeFailure`. Messages name the host only: URLs may hold API keys. */
export function nodeFetch(timeoutMs: number = NODE_TIMEOUT_MS, isAnswer: IsAnswer = isCommonAnswer): Fetch {
  return async (url, init) => {
    const place = new URL(url instanceof Request ? url.url : url);
    const { body } = init ?? {};
    if (typeof body !== 'string') throw new TypeError('A request to a node has a body of text.');
    const headers = Object.fromEntries(new Headers(init?.headers));
    const text = await measured(1, async () => {
      const answer = await exchange(place, timeoutMs, body, headers);
      orRefusal(() => resultOf(place.host, parseJson(answer), isAnswer));
      return answer;
    });
    return new Response(text, { headers: { 'content-type': 'application/json' } });
  };
}

async function measured<T>(calls: number, request: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  nodeUse.requests += 1;
  nodeUse.calls += calls;
  try {
    return await request();
  } catch (error) {
    nodeUse.failures += 1;
    throw error;
  } finally {
    nodeUse.ms += performance.now() - startedAt;
  }
}

const agents = {
  'http:': new http.Agent({ keepAlive: true, timeout: IDLE_MS }),
  'https:': new https.Agent({ keepAlive: true, timeout: IDLE_MS }),
} as const;

const unzip = promisify(gunzip);

/** `fetch` would cost three times the processor time. Redirects are not followed. */
async function exchange(
  url: URL,
  timeoutMs: number,
  body: string,
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
): Promise<string> {
  const { host } = url;
  const isSafe = url.protocol === 'https:';
  let connected = false;
  let timer: NodeJS.Timeout | undefined;
  try {
    const { status, encoding, bytes } = await new Promise<RawAnswer>((resolve, reject) => {
      const options = {
        method: 'POST',
        agent: agents[isSafe ? 'https:' : 'http:'],
        headers: {
          ...headers,
          accept: 'application/json',
          'content-length': Buffer.byteLength(body),
          ...(isSafe && { 'accept-encoding': 'gzip' }),
        },
      };
      const request = (isSafe ? https : http).request(url, options, (response) => {
        readBytes(response).then(
          (bytes) =>
            resolve({ status: response.statusCode ?? 0, encoding: response.headers['content-encoding'], bytes }),
          reject,
        );
      });
      request.on('error', reject);
      request.on('socket', (socket) => {
        if (!socket.connecting) connected = true;
        else {
          socket.once('connect', () => {
            connected = true;
          });
        }
      });
      timer = setTimeout(() => {
        reject(new NodeFailure(`${host} did not answer within ${timeoutMs} ms`, { unclear: connected }));
        request.destroy();
      }, timeoutMs);
      request.end(body);
    });
    if (status < 200 || status > 299) {
      const isRefused = status >= 400 && status < 500;
      const isAboutRequest = isRefused && status !== TOO_MANY_REQUESTS;
      throw new NodeFailure(`${host} answered HTTP ${status}`, { unclear: !isRefused, isAboutRequest });
    }
    const plain = encoding === 'gzip' ? await unzip(bytes, { maxOutputLength: MAX_ANSWER_BYTES }) : bytes;
    return plain.toString('utf8');
  } catch (error) {
    throw error instanceof NodeFailure ? error : transportFailure(host, error);
  } finally {
    clearTimeout(timer);
  }
}

interface RawAnswer {
  readonly status: number;
  readonly encoding: string | undefined;
  readonly bytes: Buffer;
}

function readBytes(response: http.IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > MAX_ANSWER_BYTES) {
        response.destroy(new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`));
      }
    });
    response.on('end', () => resolve(Buffer.concat(chunks)));
    response.on('error', reject);
    response.on('close', () => reject(new Error('the answer ended early')));
  });
}

function transportFailure(host: string, error: unknown): NodeFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const unclear = code === undefined || !NOT_CONNECTED.has(code);
  const why = code ?? (error instanceof Error ? error.message : String(error));
  return new NodeFailure(`${host} gave no answer (${why})`, { unclear, cause: error });
}

interface Call {
  readonly method: string;
  readonly params: unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Nodes limit the size of a batch. */
const MAX_BATCH = 50;
const MAX_FAILED_BATCHES = 3;
/** A node that took no batches is tried again after this. */
const NO_BATCHES_MS = 600_000;

/** Reads of the same moment go in one request, where the node takes batches. */
export class RpcClient {
  readonly #url: URL;
  readonly #isAnswer: IsAnswer;
  readonly #timeoutMs: number;
  readonly #waiting: Call[] = [];
  #failedBatches = 0;
  #singlyUntil = 0;

  constructor(url: string, isAnswer: IsAnswer, timeoutMs: number = NODE_TIMEOUT_MS) {
    this.#url = new URL(url);
    this.#isAnswer = isAnswer;
    this.#timeoutMs = timeoutMs;
  }

  /** A `RpcRefusal` is the chain's answer, a `NodeFailure` is about the node. */
  read(method: string, params: object = []): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ method, params, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  /** In a request of its own. */
  ask(method: string, params: unknown): Promise<unknown> {
    return measured(1, async () => resultOf(this.#url.host, await this.#post(rpcCall(method, params)), this.#isAnswer));
  }

  async #post(body: unknown): Promise<unknown> {
    return parseJson(await exchange(this.#url, this.#timeoutMs, JSON.stringify(body)));
  }

  #flush(): void {
    const calls = this.#waiting.splice(0);
    if (calls.length === 1 || performance.now() < this.#singlyUntil) {
      void this.#askSingly(calls);
      return;
    }
    for (let start = 0; start < calls.length; start += MAX_BATCH) {
      const some = calls.slice(start, start + MAX_BATCH);
      this.#askTogether(some).catch((error: unknown) => {
        for (const { reject } of some) reject(error);
      });
    }
  }

  #askSingly(calls: readonly Call[]): Promise<PromiseSettledResult<unknown>[]> {
    const asked = calls.map(({ method, params, resolve, reject }) => {
      const answer = this.ask(method, params);
      answer.then(resolve, reject);
      return answer;
    });
    return Promise.allSettled(asked);
  }

  async #askTogether(calls: readonly Call[]): Promise<void> {
    const batch = calls.map(({ method, params }, index) => rpcCall(method, params, index));
    const answers = await measured(calls.length, () => this.#post(batch)).catch((error: unknown) => {
      if (error instanceof NodeFailure && error.isAboutRequest) return undefined;
      throw error;
    });
    const byId = new Map(Array.isArray(answers) ? answers.filter(isObject).map((answer) => [answer.id, answer]) : []);
    const outcomes = await Promise.allSettled(
      calls.map(async (_, index) => resultOf(this.#url.host, byId.get(index), this.#isAnswer)),
    );
    if (outcomes.every(isFailure)) {
      // Where they succeed alone, and not for the first time, the trouble is the batch.
      const alone = await this.#askSingly(calls);
      if (!alone.every(isFailure)) this.#failedBatches += 1;
      if (this.#failedBatches >= MAX_FAILED_BATCHES) this.#singlyUntil = performance.now() + NO_BATCHES_MS;
      return;
    }
    this.#failedBatches = 0;
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') calls[index]?.resolve(outcome.value);
      else calls[index]?.reject(outcome.reason);
    }
  }
}

const rpcCall = (method: string, params: unknown, id = 0) => ({ jsonrpc: '2.0', id, method, params });

const isFailure = (outcome: PromiseSettledResult<unknown>): boolean =>
  outcome.status === 'rejected' && outcome.reason instanceof NodeFailure;

/** The chain says no, and every other node would say the same. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal';
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message }: RpcErrorBody, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Other errors, such as a used-up quota, say nothing about the request's outcome. */
function resultOf(host: string, value: unknown, isAnswer: IsAnswer): unknown {
  if (!isObject(value) || !('result' in value || 'error' in value)) {
    throw new NodeFailure(`${host} did not answer with JSON-RPC`, { unclear: true });
  }
  const { error } = value;
  if (error === undefined || (error === null && 'result' in value)) return value.result;
  const { code, message, data }: Readonly<Record<string, unknown>> = isObject(error) ? error : {};
  const body = { code: Number(code), message: String(message) };
  if (typeof code === 'number' && isAnswer(body)) throw new RpcRefusal(body, data);
  throw new NodeFailure(`${host} answered error ${typeof code === 'number' ? code : 'without a code'}`, {
    unclear: true,
  });
}

function orRefusal(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Extends starknet.js's error class because the library flattens all others. */
export class NodeFailure extends LibraryError {
  /** The request may have been processed although no answer came. */
  readonly unclear: boolean;
  /** The node lives, and refused this request for what it holds. */
  readonly isAboutRequest: boolean;

  constructor(message: string, options: { unclear: boolean; isAboutRequest?: boolean; cause?: unknown }) {
    super(message);
    this.name = 'NodeFailure';
    this.unclear = options.unclear;
    this.isAboutRequest = options.isAboutRequest ?? false;
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
