import { type Answer, failure, INVALID_PARAMS, LIMIT_EXCEEDED } from './rpc-error.ts';

/** The one method that changes the chain. */
export const SEND = 'eth_sendRawTransaction';

/**
 * What can be asked from outside. Everything else of the engine stays closed: its own methods bend the rules of the chain, and
 * filters would live in one process while the next request may reach another.
 */
// biome-ignore format: a table reads better than twenty lines
const open: ReadonlySet<string> = new Set([
  SEND, 'eth_blockNumber', 'eth_call', 'eth_chainId', 'eth_estimateGas', 'eth_feeHistory', 'eth_gasPrice', 'eth_getBalance',
  'eth_getBlockByHash', 'eth_getBlockByNumber', 'eth_getBlockTransactionCountByHash', 'eth_getBlockTransactionCountByNumber',
  'eth_getCode', 'eth_getLogs', 'eth_getStorageAt', 'eth_getTransactionByBlockHashAndIndex',
  'eth_getTransactionByBlockNumberAndIndex', 'eth_getTransactionByHash', 'eth_getTransactionCount',
  'eth_getTransactionReceipt', 'eth_maxPriorityFeePerGas', 'eth_syncing', 'net_version', 'web3_clientVersion', 'web3_sha3',
]);

/** As the providers of live chains have it; a block here holds one transaction. */
export const MAX_LOG_BLOCKS = 10_000;
/** Each one is answered for each of up to 1,024 blocks. */
const MAX_PERCENTILES = 100;
/** As live nodes have it: 128 KiB, two digits a byte, and the 0x before them. */
const MAX_RAW_CHARS = 2 + 2 * 128 * 1024;

type Params = readonly unknown[];

export function isOpen(method: string): boolean {
  return open.has(method);
}

/** Answers why a request is refused before the engine sees it, or undefined. Height is the newest block's number. */
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
    // Blobs live on the chain below; none of these six takes them.
    return raw.startsWith('0x03') ? failure(INVALID_PARAMS, 'transaction type not supported') : undefined;
  },
};

function logRange(filter: unknown, height: number): number {
  if (typeof filter !== 'object' || filter === null) return 0;
  const { fromBlock, toBlock, blockHash } = filter as Record<string, unknown>;
  if (blockHash !== undefined) return 1;
  return Math.min(blockNumber(toBlock, height), height) - blockNumber(fromBlock, height) + 1;
}

/** Words other than `earliest` all mean the newest block here; what is no number is left for the engine to refuse. */
function blockNumber(text: unknown, height: number): number {
  if (text === 'earliest') return 0;
  return typeof text === 'string' && /^0x[0-9a-fA-F]{1,16}$/.test(text) ? Number(text) : height;
}
