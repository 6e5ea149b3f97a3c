/** Bounds how long one request blocks the others. */
export const MAX_BATCH = 100;
/** JSON of this size takes the thread about 20 ms. */
export const MAX_BATCH_CHARS = 2 * 1024 * 1024;

export type Execute = (method: string, params: readonly unknown[]) => Promise<Answer>;
type Response = Answer & { readonly jsonrpc: '2.0'; readonly id: string | number | null };

/** A JSON-RPC 2.0 request or batch; undefined if no answer is due (no `id`). */
export async function serve(body: unknown, execute: Execute): Promise<unknown> {
  return Array.isArray(body) ? serveBatch(body, execute) : serveOne(body, execute);
}

async function serveBatch(body: readonly unknown[], execute: Execute): Promise<unknown> {
  if (body.length === 0) return respond(null, failure(INVALID_REQUEST, 'The batch is empty.'));
  if (body.length > MAX_BATCH) {
    return respond(null, failure(LIMIT_EXCEEDED, `A batch has at most ${MAX_BATCH} requests.`));
  }
  const responses: Response[] = [];
  let room = MAX_BATCH_CHARS;
  for (const item of body) {
    const response = await serveOne(item, room > 0 ? execute : refuseMore);
    if (response === undefined) continue;
    responses.push(response);
    room -= JSON.stringify(response).length;
  }
  return responses.length > 0 ? responses : undefined;
}

async function refuseMore(): Promise<Answer> {
  return failure(LIMIT_EXCEEDED, 'The answers to this batch are too large. Ask for less at once.');
}

async function serveOne(body: unknown, execute: Execute): Promise<Response | undefined> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return respond(null, failure(INVALID_REQUEST, 'A request is a JSON object.'));
  }
  const { jsonrpc, id, method, params = [] } = body as Record<string, unknown>;
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') {
    return respond(null, failure(INVALID_REQUEST, 'id must be a string or a number.'));
  }
  if (jsonrpc !== '2.0' || typeof method !== 'string') {
    return respond(id ?? null, failure(INVALID_REQUEST, 'A request has jsonrpc "2.0" and the name of a method.'));
  }
  if (!Array.isArray(params)) return respond(id ?? null, failure(INVALID_PARAMS, 'params must be an array.'));
  const answer = await execute(method, params);
  return id === undefined ? undefined : respond(id, answer);
}

export function respond(id: string | number | null, answer: Answer): Response {
  return { jsonrpc: '2.0', id, ...answer };
}

export const SEND = 'eth_sendRawTransaction';

/** The engine's other methods stay closed: some manipulate the chain, and filters live in one process only. */
// biome-ignore format: a table reads better than twenty lines
const publicMethods: ReadonlySet<string> = new Set([
  SEND, 'eth_blockNumber', 'eth_call', 'eth_chainId', 'eth_estimateGas', 'eth_feeHistory', 'eth_gasPrice', 'eth_getBalance',
  'eth_getBlockByHash', 'eth_getBlockByNumber', 'eth_getBlockTransactionCountByHash', 'eth_getBlockTransactionCountByNumber',
  'eth_getCode', 'eth_getLogs', 'eth_getStorageAt', 'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex', 'eth_getTransactionByHash', 'eth_getTransactionCount',
  'eth_getTransactionReceipt', 'eth_maxPriorityFeePerGas', 'eth_syncing', 'net_version', 'web3_clientVersion', 'web3_sha3',
]);

/** As providers of live chains allow. */
export const MAX_LOG_BLOCKS = 10_000;
/** Each is computed for up to 1,024 blocks. */
const MAX_PERCENTILES = 100;
/** 128 KiB in hex with its 0x, as on live nodes. */
const MAX_RAW_CHARS = 2 + 2 * 128 * 1024;

type Params = readonly unknown[];

export function isPublic(method: string): boolean {
  return publicMethods.has(method);
}

export function overLimit(method: string, params: Params, height: number): Answer | undefined {
  return limits[method]?.(params, height);
}

const limits: Readonly<Record<string, (params: Params, height: number) => Answer | undefined>> = {
  eth_getLogs: ([filter], height) =>
    logRange(filter, height) > MAX_LOG_BLOCKS
      ? failure(LIMIT_EXCEEDED, `eth_getLogs looks through at most ${MAX_LOG_BLOCKS} blocks at once.`)
      : undefined,
  eth_feeHistory: ([, , percentiles]) =>
    Array.isArray(percentiles) && percentiles.length > MAX_PERCENTILES
      ? failure(LIMIT_EXCEEDED, `eth_feeHistory takes at most ${MAX_PERCENTILES} percentiles.`)
      : undefined,
  [SEND]: ([raw]) => {
    if (typeof raw !== 'string' || !/^0x[0-9a-fA-F]+$/.test(raw) || raw.length % 2 !== 0) {
      return failure(INVALID_PARAMS, 'The transaction must be 0x and an even number of hexadecimal digits.');
    }
    if (raw.length > MAX_RAW_CHARS)
      return failure(LIMIT_EXCEEDED, 'oversized data: a transaction has at most 128 KiB.');
    // Blob transactions exist on L1 only.
    return raw.startsWith('0x03') ? failure(INVALID_PARAMS, 'transaction type not supported') : undefined;
  },
};

function logRange(filter: unknown, height: number): number {
  if (typeof filter !== 'object' || filter === null) return 0;
  const { fromBlock, toBlock, blockHash } = filter as Record<string, unknown>;
  if (blockHash !== undefined) return 1;
  return Math.min(blockNumber(toBlock, height), height) - blockNumber(fromBlock, height) + 1;
}

/** Every tag but `earliest` means the newest block; the engine refuses the rest. */
function blockNumber(text: unknown, height: number): number {
  if (text === 'earliest') return 0;
  return typeof text === 'string' && /^0x[0-9a-fA-F]{1,16}$/.test(text) ? Number(text) : height;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type Answer = { readonly result: unknown } | { readonly error: RpcError };

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const LIMIT_EXCEEDED = -32_005;
const EXECUTION_REVERTED = 3;

const MAX_REASON_LENGTH = 1_024;

/** Libraries recognise errors by the messages of live nodes; the engine has its own. */
const liveMessages: readonly (readonly [RegExp, string])[] = [
  [/^Sender doesn't have enough funds/, 'insufficient funds for gas * price + value'],
  [/^Nonce too low/, 'nonce too low'],
  [/^Nonce too high/, 'nonce too high'],
  [/^Transaction requires at least \d+ gas/, 'intrinsic gas too low'],
  [/^Transaction gas limit is \d+ and exceeds block gas limit/, 'exceeds block gas limit'],
  [/^Transaction maxFeePerGas .* is too low/, 'max fee per gas less than block base fee'],
  [/invalid chainId/, 'invalid chain id for signer'],
];

export function failure(code: number, message: string, data?: unknown): { error: RpcError } {
  return { error: data === undefined ? { code, message } : { code, message, data } };
}

export function asLiveNode(error: RpcError): RpcError {
  const revert = revertData(error.data);
  if (revert !== undefined) return { code: EXECUTION_REVERTED, message: revertMessage(revert), data: revert };
  const words = liveMessages.find(([pattern]) => pattern.test(error.message))?.[1];
  return { code: error.code, message: words ? `${words}: ${error.message}` : error.message };
}

function revertData(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('reason' in data)) return undefined;
  const { reason } = data;
  if (typeof reason !== 'object' || reason === null || !('Revert' in reason)) return undefined;
  return typeof reason.Revert === 'string' ? reason.Revert : undefined;
}

function revertMessage(data: string): string {
  const [, length, text] = /^0x08c379a0.{64}(.{64})(.*)$/.exec(data) ?? [];
  if (length === undefined || text === undefined) return 'execution reverted';
  const size = Number(BigInt(`0x${length}`));
  if (size === 0 || size > MAX_REASON_LENGTH) return 'execution reverted';
  return `execution reverted: ${Buffer.from(text.slice(0, size * 2), 'hex').toString()}`;
}
