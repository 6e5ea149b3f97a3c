import { parseFelt } from '@svc/starknet';
import { type Client, defaultRuntime, type Fetch, type Runtime } from '../client/client.ts';
import { SvcConnectionError, SvcInputError } from '../client/errors.ts';
import { isObject, readUrl } from '../client/values.ts';
import { clientNodes, firstNode, NODE_TIMEOUT_MS, type Nodes, readFelt, readFelts, rpcCodes } from './rpc.ts';

export interface WaitForTransactionOptions {
  /** Starknet nodes, preferred first; the next one is tried when a node fails. */
  readonly nodeUrl?: string | readonly string[] | undefined;
  /** Between two requests, at least 10. Default: 3000. */
  readonly retryIntervalMs?: number | undefined;
  /** In total. Default: 300000. */
  readonly timeoutMs?: number | undefined;
  readonly fetch?: Fetch | undefined;
  readonly runtime?: Runtime | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TransactionResult {
  readonly transactionHash: string;
  /** True only if accepted and not reverted. */
  readonly success: boolean;
  /** `SUCCEEDED` or `REVERTED`. */
  readonly executionStatus: string;
  /** `ACCEPTED_ON_L2` or `ACCEPTED_ON_L1`. */
  readonly finalityStatus: string;
  /** Set if not successful. */
  readonly revertReason?: string;
  /** Empty if not successful. */
  readonly events: readonly TransactionEvent[];
  readonly blockNumber: number | undefined;
}

const RETRY_INTERVAL_MS = 3_000;
const TIMEOUT_MS = 300_000;
/** Limits the load on a node. */
const SHORTEST_INTERVAL_MS = 10;

/**
 * Waits until a transaction is final. Needs no keys and no account. A revert is a result with `success: false`.
 *
 * Throws `SvcConnectionError`: `timeout` if the transaction is not final in time, `connection_failed` if no node
 * answered in five rounds in a row. Shorter network gaps are retried.
 *
 * @example
 * const result = await waitForTransaction(transactionHash, { nodeUrl });
 * if (!result.success) console.log(result.revertReason);
 */
export async function waitForTransaction(
  transactionHash: string,
  options: WaitForTransactionOptions = {},
): Promise<TransactionResult> {
  const urls = readNodeUrls(options);
  if (urls.length === 0) {
    throw new SvcInputError('invalid_input', 'Pass nodeUrl: the address of a Starknet node, or several of them.');
  }
  return wait(transactionHash, () => urls, options);
}

/**
 * `waitForTransaction` with the nodes of the client and the service as fallbacks.
 *
 * @example
 * const { success } = await svc.waitForTransaction(transactionHash);
 */
export async function waitForTransactionOf(
  client: Client,
  transactionHash: string,
  options: WaitForTransactionOptions = {},
): Promise<TransactionResult> {
  const preferred = readNodeUrls(options);
  const { fetch, runtime } = client;
  return wait(transactionHash, () => clientNodes(client, preferred), { fetch, runtime, ...options });
}

async function wait(transactionHash: string, nodes: () => Nodes, options: WaitForTransactionOptions) {
  const hash = parseFelt(String(transactionHash));
  if (!hash.ok) throw new SvcInputError('invalid_input', `transactionHash ${hash.reason}.`);
  const receipt = await pollReceipt({
    transactionHash: hash.value,
    nodes,
    retryIntervalMs: readMs('retryIntervalMs', options.retryIntervalMs ?? RETRY_INTERVAL_MS, SHORTEST_INTERVAL_MS),
    timeoutMs: readMs('timeoutMs', options.timeoutMs ?? TIMEOUT_MS, 0),
    // Browsers refuse `fetch` as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    runtime: options.runtime ?? defaultRuntime,
    signal: options.signal,
  });
  return toResult(transactionHash, receipt);
}

function toResult(transactionHash: string, receipt: Receipt): TransactionResult {
  const { executionStatus, finalityStatus, revertReason = '', events, blockNumber } = receipt;
  const success = executionStatus === 'SUCCEEDED' && finalityStatus !== 'REJECTED';
  const outcome = success ? { events } : { revertReason, events: [] };
  return { transactionHash, success, executionStatus, finalityStatus, ...outcome, blockNumber };
}

function readNodeUrls({ nodeUrl = [] }: WaitForTransactionOptions): string[] {
  return [nodeUrl].flat().map((url) => readUrl('nodeUrl', url, 'invalid_input').href);
}

function readMs(name: string, ms: number, least: number): number {
  if (Number.isFinite(ms) && ms >= least) return ms;
  throw new SvcInputError('invalid_input', `${name} must be a number of milliseconds, ${least} or more.`);
}

interface Poll {
  readonly transactionHash: bigint;
  readonly nodes: () => Nodes;
  readonly retryIntervalMs: number;
  readonly timeoutMs: number;
  readonly fetch: Fetch;
  readonly runtime: Runtime;
  readonly signal?: AbortSignal | undefined;
}

/** Older nodes report `REJECTED` for transactions that never reached a block. */
const FINAL: ReadonlySet<string> = new Set(['ACCEPTED_ON_L2', 'ACCEPTED_ON_L1', 'REJECTED']);

/** Network changes of a phone last a few rounds; a wrong URL never recovers. */
const MAX_FAILED_ROUNDS = 5;

/** Polls until the receipt is final. Unknown hashes and pre-confirmed receipts are retried. */
async function pollReceipt(poll: Poll): Promise<Receipt> {
  const { runtime, timeoutMs, retryIntervalMs } = poll;
  const deadline = runtime.now() + timeoutMs;
  let failedRounds = 0;
  for (;;) {
    let failure: SvcConnectionError | undefined;
    try {
      const receipt = await askForReceipt(poll, deadline - runtime.now());
      if (receipt && FINAL.has(receipt.finalityStatus)) return receipt;
      failedRounds = 0;
    } catch (error) {
      if (!(error instanceof SvcConnectionError)) throw error;
      failedRounds += 1;
      if (failedRounds >= MAX_FAILED_ROUNDS) throw error;
      failure = error;
    }
    const leftMs = deadline - runtime.now();
    if (leftMs <= 0) throw timedOut(poll, failure);
    await runtime.sleep(Math.min(retryIntervalMs, leftMs), poll.signal);
  }
}

async function askForReceipt(poll: Poll, leftMs: number): Promise<Receipt | undefined> {
  const { fetch, signal, transactionHash } = poll;
  const params = { transaction_hash: `0x${transactionHash.toString(16)}` };
  // The last request before the deadline still gets a second.
  const timeoutMs = Math.max(1_000, Math.min(NODE_TIMEOUT_MS, leftMs));
  const answer = await firstNode(poll.nodes(), { fetch, timeoutMs, signal }, (ask) =>
    ask('starknet_getTransactionReceipt', params, (result) => readReceipt(transactionHash, result)),
  );
  if (answer.ok) return answer.value;
  if (answer.code === rpcCodes.transactionNotFound) return undefined;
  throw new SvcConnectionError('invalid_answer', `The node did not understand the question: ${answer.reason}`);
}

function timedOut({ transactionHash, timeoutMs }: Poll, cause: unknown): SvcConnectionError {
  const hash = `0x${transactionHash.toString(16)}`;
  const message = `${hash} was not final within ${timeoutMs} ms. It may still be: wait for the same hash again.`;
  return new SvcConnectionError('timeout', message, cause === undefined ? {} : { cause });
}

/** As returned by the node; `keys[0]` is the selector of the event's name. */
export interface TransactionEvent {
  readonly from_address: string;
  readonly keys: readonly string[];
  readonly data: readonly string[];
}

export interface Receipt {
  readonly executionStatus: string;
  readonly finalityStatus: string;
  readonly revertReason: string | undefined;
  readonly events: readonly TransactionEvent[];
  readonly blockNumber: number | undefined;
}

/** Undefined if it is no receipt, or one of another transaction. */
export function readReceipt(hash: bigint, result: unknown): Receipt | undefined {
  if (!isObject(result) || readFelt(result.transaction_hash) !== hash) return undefined;
  const { execution_status, finality_status, revert_reason, block_number } = result;
  const events = readEvents(result.events);
  if (typeof execution_status !== 'string' || typeof finality_status !== 'string' || !events) return undefined;
  return {
    executionStatus: execution_status,
    finalityStatus: finality_status,
    revertReason: typeof revert_reason === 'string' ? revert_reason : undefined,
    events,
    blockNumber: typeof block_number === 'number' ? block_number : undefined,
  };
}

function readEvents(value: unknown): TransactionEvent[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const events = value.map(readEvent);
  return events.every((event) => event !== undefined) ? events : undefined;
}

function readEvent(value: unknown): TransactionEvent | undefined {
  if (!isObject(value)) return undefined;
  const { from_address, keys, data } = value;
  const whole = readFelt(from_address) !== undefined && readFelts(keys) && readFelts(data);
  return whole ? ({ from_address, keys, data } as unknown as TransactionEvent) : undefined;
}
