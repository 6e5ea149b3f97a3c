import type { Fetch } from '../client/client.ts';
import { SvcConnectionError } from '../client/errors.ts';
import type { Runtime } from '../client/runtime.ts';
import { NODE_TIMEOUT_MS } from './client-nodes.ts';
import { firstNode, type Nodes } from './first-node.ts';
import { type Receipt, readReceipt } from './read-receipt.ts';
import { rpcCodes } from './rpc-answer.ts';

export interface Poll {
  readonly transactionHash: bigint;
  /** For each round anew. */
  readonly nodes: () => Nodes;
  readonly retryIntervalMs: number;
  readonly timeoutMs: number;
  readonly fetch: Fetch;
  readonly runtime: Runtime;
  readonly signal?: AbortSignal | undefined;
}

/** `REJECTED` is how older nodes show what never came into a block. */
const FINAL: ReadonlySet<string> = new Set(['ACCEPTED_ON_L2', 'ACCEPTED_ON_L1', 'REJECTED']);

/** A phone that changes networks is back within a few rounds; an address without a node never is. */
const MAX_FAILED_ROUNDS = 5;

/** Asks for a receipt until it is final. A hash that nobody knows, and a receipt that may change, are waited for. */
export async function pollReceipt(poll: Poll): Promise<Receipt> {
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
  // A last question right at the deadline still gets a moment.
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
