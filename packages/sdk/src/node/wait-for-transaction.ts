import { parseFelt } from '@svc/starknet';
import type { Client, Fetch } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { readUrl } from '../client/read-url.ts';
import { defaultRuntime, type Runtime } from '../client/runtime.ts';
import { clientNodes } from './client-nodes.ts';
import type { Nodes } from './first-node.ts';
import { pollReceipt } from './poll-receipt.ts';
import type { Receipt, TransactionEvent } from './read-receipt.ts';

export interface WaitForTransactionOptions {
  /** Starknet nodes, the preferred one first; each next one is tried when those before it fail. */
  readonly nodeUrl?: string | readonly string[] | undefined;
  /** Between two questions, at least 10. Default 3000. */
  readonly retryIntervalMs?: number | undefined;
  /** For all of it. Default 300000. */
  readonly timeoutMs?: number | undefined;
  readonly fetch?: Fetch | undefined;
  readonly runtime?: Runtime | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TransactionResult {
  readonly transactionHash: string;
  /** True only for a transaction that was accepted and not reverted. */
  readonly success: boolean;
  /** As the node says it: `SUCCEEDED` or `REVERTED`. */
  readonly executionStatus: string;
  /** As the node says it: `ACCEPTED_ON_L2` or `ACCEPTED_ON_L1`. */
  readonly finalityStatus: string;
  /** There when not successful. */
  readonly revertReason?: string;
  /** Empty when not successful. */
  readonly events: readonly TransactionEvent[];
  readonly blockNumber: number | undefined;
}

const RETRY_INTERVAL_MS = 3_000;
const TIMEOUT_MS = 300_000;
/** Without a pause a page would ask a node as fast as it can, for minutes. */
const SHORTEST_INTERVAL_MS = 10;

/**
 * Waits until a transaction is final. Needs no keys and no account, so it works on any page. A revert is a result, with
 * `success: false`, and never thrown. Thrown is a `SvcConnectionError`: `timeout` when the transaction was not final in time, and
 * `connection_failed` when no node answered in five rounds in a row. A shorter gap, as of a phone that changes networks, is waited out.
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
 * `waitForTransaction` that need not be told of nodes: after those of the options come the client's and the service's.
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
    // Called as a plain function: browsers refuse `fetch` as a method of another object.
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
