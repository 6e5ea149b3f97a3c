import { parseFelt, selector, spellPanic, toHex } from '@svc/starknet';
import type { Client, Fetch } from '../client/client.ts';
import { getConfig } from '../client/config.ts';
import { SvcChainError, SvcConnectionError } from '../client/errors.ts';
import { isRedirect, withoutCookies } from '../client/request.ts';
import { isObject } from '../client/values.ts';

interface NodeAccess {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A request to one node. `read` returns undefined for an invalid result. */
export type Ask = <T>(
  method: string,
  params: object,
  read: (result: unknown) => T | undefined,
) => Promise<RpcAnswer<T>>;

/** Throws `SvcConnectionError` when the node, not the chain, is at fault. */
function askNode(url: string, access: NodeAccess): Ask {
  return async (method, params, read) => {
    const { response, text } = await post(url, access, { jsonrpc: '2.0', id: 1, method, params });
    const { status } = response;
    const isAnswer = status < 500 && status !== 429 && !isRedirect(response);
    const answer = isAnswer ? readRpcAnswer(parse(text), read) : undefined;
    if (answer) return answer;
    throw new SvcConnectionError('invalid_answer', `${hostOf(url)} did not answer ${method} (HTTP ${status}).`);
  };
}

async function post(url: string, { fetch, timeoutMs, signal }: NodeAccess, body: object) {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // Redirects are not followed: node URLs contain keys. Some runtimes lack 'error'.
      redirect: 'manual',
      ...withoutCookies(),
    });
    return { response, text: await response.text() };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    if (!timeout.aborted)
      throw new SvcConnectionError('connection_failed', `${hostOf(url)} could not be reached.`, { cause });
    throw new SvcConnectionError('timeout', `${hostOf(url)} did not answer within ${timeoutMs} ms.`, { cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Messages show the host only: node paths contain keys. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'The node';
}

/** An error of the chain: JSON-RPC code and innermost reason. Every node would return the same. */
interface RpcRefusal {
  readonly ok: false;
  readonly code: number;
  readonly reason: string;
}

export type RpcAnswer<T> = { readonly ok: true; readonly value: T } | RpcRefusal;

export const rpcCodes = {
  contractNotFound: 20,
  entrypointNotFound: 21,
  blockNotFound: 24,
  transactionNotFound: 29,
  contractError: 40,
  invalidParams: -32602,
} as const;

/**
 * Errors about blocks, contracts and transactions. All others (internal error, limit, missing method) are the node's
 * own, and the next node may answer.
 */
const ANSWERS: ReadonlySet<number> = new Set(Object.values(rpcCodes));

function readRpcAnswer<T>(body: unknown, read: (result: unknown) => T | undefined): RpcAnswer<T> | undefined {
  if (!isObject(body)) return undefined;
  if (isObject(body.error)) {
    const { code, message, data } = body.error;
    if (typeof code !== 'number' || !ANSWERS.has(code)) return undefined;
    return { ok: false, code, reason: innermost(data) || String(message) };
  }
  const value = read(body.result);
  return value === undefined ? undefined : { ok: true, value };
}

/** Real call stacks are a few levels deep; a hostile node could send more. */
const MAX_DEPTH = 100;

/** Each nested call wraps the error once; the reason is innermost. */
function innermost(data: unknown): string {
  let error: unknown = data;
  for (let depth = 0; depth < MAX_DEPTH && isObject(error); depth++) error = error.revert_error ?? error.error;
  return typeof error === 'string' ? spellPanic(error) : '';
}

/** Node URLs, preferred first. */
export type Nodes = Iterable<string> | AsyncIterable<string>;

/** Runs `work` with the first node that answers. For reads only: `work` may start on several nodes. */
export async function firstNode<T>(nodes: Nodes, access: NodeAccess, work: (ask: Ask) => Promise<T>): Promise<T> {
  const failures: SvcConnectionError[] = [];
  for await (const url of nodes) {
    try {
      return await work(askNode(url, access));
    } catch (error) {
      if (!(error instanceof SvcConnectionError)) throw error;
      failures.push(error);
    }
  }
  const reasons = failures.map((error) => error.message).join(' ');
  const cause = failures.length === 1 ? failures[0] : new AggregateError(failures, reasons);
  throw new SvcConnectionError('connection_failed', `No Starknet node answered. ${reasons}`, { cause });
}

/** Nodes answer in under a second; after this the next one is tried. */
export const NODE_TIMEOUT_MS = 15_000;

/** The given nodes, then the client's, then the service's, which is looked up only when needed. */
export async function* clientNodes(client: Client, preferred: readonly string[] = []): AsyncGenerator<string> {
  const own = new Set([...preferred, ...client.nodeUrls]);
  yield* own;
  const { rpcUrl } = await getConfig(client);
  if (!own.has(rpcUrl)) yield rpcUrl;
}

export function withNode<T>(client: Client, work: (ask: Ask) => Promise<T>): Promise<T> {
  const timeoutMs = Math.min(NODE_TIMEOUT_MS, client.timeoutMs);
  return firstNode(clientNodes(client), { fetch: client.fetch, timeoutMs }, work);
}

type BlockTag = 'pre_confirmed' | 'latest';

/** Reads the pre-confirmed block, which has the newest transactions, or the latest one where a node lacks it. */
export async function atNewest<T>(ask: (block: BlockTag) => Promise<RpcAnswer<T>>): Promise<RpcAnswer<T>> {
  const answer = await ask('pre_confirmed');
  const unknownTag = !answer.ok && (answer.code === rpcCodes.invalidParams || answer.code === rpcCodes.blockNotFound);
  return unknownTag ? ask('latest') : answer;
}

export function readFelt(value: unknown): bigint | undefined {
  const felt = typeof value === 'string' ? parseFelt(value) : undefined;
  return felt?.ok ? felt.value : undefined;
}

export function readFelts(value: unknown): bigint[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const felts = value.map(readFelt);
  return felts.every((felt) => felt !== undefined) ? felts : undefined;
}

interface ViewCall {
  readonly contractAddress: bigint;
  readonly entrypoint: string;
  readonly calldata: readonly bigint[];
}

/** Calls a view function at the newest block. Errors of the chain are `SvcChainError`. */
export async function callContract(client: Client, call: ViewCall): Promise<bigint[]> {
  const request = {
    contract_address: toHex(call.contractAddress),
    entry_point_selector: toHex(selector(call.entrypoint)),
    calldata: call.calldata.map(toHex),
  };
  const answer = await withNode(client, (ask) =>
    atNewest((block_id) => ask('starknet_call', { request, block_id }, readFelts)),
  );
  if (answer.ok) return answer.value;
  throw refused(call, answer);
}

function refused({ contractAddress, entrypoint }: ViewCall, { code, reason }: RpcRefusal): SvcChainError {
  const address = toHex(contractAddress);
  if (code === rpcCodes.contractNotFound)
    return new SvcChainError('contract_not_found', `No contract stands at ${address} yet.`);
  if (code === rpcCodes.entrypointNotFound || /ENTRYPOINT_NOT_FOUND/.test(reason)) {
    return new SvcChainError('entrypoint_not_found', `The contract at ${address} has no function ${entrypoint}.`);
  }
  return new SvcChainError('call_failed', `${entrypoint} of ${address} failed: ${reason}`);
}

/** Unix seconds of the block in progress, which contracts use as the time. */
export async function chainTime(client: Client): Promise<bigint> {
  const answer = await withNode(client, (ask) =>
    atNewest((block_id) => ask('starknet_getBlockWithTxHashes', { block_id }, readTimestamp)),
  );
  if (answer.ok) return answer.value;
  throw new SvcChainError('call_failed', `The time of the chain could not be read: ${answer.reason}`);
}

function readTimestamp(block: unknown): bigint | undefined {
  if (!isObject(block) || !Number.isSafeInteger(block.timestamp)) return undefined;
  return BigInt(Number(block.timestamp));
}

/** Undefined if no contract is deployed at the address. */
export async function classHashAt(client: Client, address: bigint): Promise<bigint | undefined> {
  const contract_address = toHex(address);
  const answer = await withNode(client, (ask) =>
    atNewest((block_id) => ask('starknet_getClassHashAt', { block_id, contract_address }, readFelt)),
  );
  if (answer.ok) return answer.value;
  if (answer.code === rpcCodes.contractNotFound) return undefined;
  throw new SvcChainError('call_failed', `The class of ${contract_address} could not be read: ${answer.reason}`);
}
