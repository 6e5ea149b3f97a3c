import { setTimeout as pause } from 'node:timers/promises';
import { type FaultKind, takeFault } from '../chain/faults.ts';
import type { Head } from '../chain/head.ts';
import { headBefore } from '../chain/queries.ts';
import { FieldError } from '../chain/transaction.ts';
import { BusyError } from '../chain/writer.ts';
import { blockMethods, chainMethods } from './block-methods.ts';
import { type Method, type NodeDeps, RpcError, rpcErrors, type SpecVersion, showError } from './context.ts';
import { eventMethods } from './event-methods.ts';
import { executionMethods, traceMethods } from './execution-methods.ts';
import { stateMethods } from './state-methods.ts';
import { submitMethods, transactionMethods } from './transaction-methods.ts';

/** Each call may cost as much as a transaction. */
const MAX_BATCH = 100;

export interface RpcAnswer {
  readonly status: number;
  readonly body: string;
  /** The connection closes without an answer. */
  readonly hangUp: boolean;
}

export interface RpcDeps extends NodeDeps {
  /** Receives internal errors; the client gets a generic one. */
  report(error: unknown): void;
}

interface Answered {
  readonly response: Record<string, unknown>;
  readonly hangUp: boolean;
}

/** `reader`: reads only, and uses up none of the ordered faults. */
export type RpcAccess = 'client' | 'reader';

export async function answerRpc(
  deps: RpcDeps,
  body: string,
  spec: SpecVersion,
  access: RpcAccess = 'client',
): Promise<RpcAnswer> {
  const request = parse(body);
  if (request instanceof RpcError) return reply(failure(null, request));
  try {
    if (!Array.isArray(request)) {
      const { response, hangUp } = await answerOne(deps, request, spec, access);
      return { ...reply(response), hangUp };
    }
    const done = await answerBatch(deps, request, spec, access);
    return { ...reply(done.map((one) => one.response)), hangUp: done.some((one) => one.hangUp) };
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    return { status: 503, body: 'Service Unavailable', hangUp: false };
  }
}

function parse(body: string): unknown {
  try {
    const request: unknown = JSON.parse(body);
    if (!Array.isArray(request)) return request;
    if (request.length === 0) return rpcErrors.invalidRequest('A batch must not be empty.');
    if (request.length > MAX_BATCH) return rpcErrors.invalidRequest(`A batch has at most ${MAX_BATCH} calls.`);
    return request;
  } catch {
    return rpcErrors.parse();
  }
}

/** Reads see one head and run beside each other. Transactions and ordered faults are taken in turn. */
async function answerBatch(
  deps: RpcDeps,
  requests: readonly unknown[],
  spec: SpecVersion,
  access: RpcAccess,
): Promise<Answered[]> {
  // Without a head each call answers for itself what is wrong.
  const head = await deps.readHead().catch(() => undefined);
  if (head && !head.faultsActive && !requests.some(isSubmission)) {
    const atHead = { ...deps, readHead: async () => head };
    return Promise.all(requests.map((request) => answerOne(atHead, request, spec, access)));
  }
  const done: Answered[] = [];
  for (const request of requests) done.push(await answerOne(deps, request, spec, access));
  return done;
}

function isSubmission(request: unknown): boolean {
  return typeof request === 'object' && request !== null && String(Reflect.get(request, 'method')) in submitMethods;
}

async function answerOne(deps: RpcDeps, request: unknown, spec: SpecVersion, access: RpcAccess): Promise<Answered> {
  const id = idOf(request);
  try {
    const { method, name, params } = readCall(request);
    const { reads } = deps.db;
    const present = await deps.readHead();
    if (access === 'reader' && name in submitMethods) throw rpcErrors.methodNotFound();
    const { head, dropTransaction, dropAnswer } =
      access === 'reader' ? { head: present, ...NO_FAULTS } : await applyFaults(deps, present, name);
    await deps.cache.sync(reads, present);
    const result = await method.run({ ...deps, reads, head, dropTransaction, spec }, params);
    return { response: { jsonrpc: '2.0', id, result }, hangUp: dropAnswer };
  } catch (error) {
    return { response: failure(id, rpcErrorOf(deps, error)), hangUp: false };
  }
}

function readCall(request: unknown): { method: Method; name: string; params: Record<string, unknown> } {
  if (typeof request !== 'object' || request === null) throw rpcErrors.invalidRequest();
  const { jsonrpc, method: name, params = [] } = request as Record<string, unknown>;
  if (jsonrpc !== '2.0' || typeof name !== 'string' || !('id' in request)) throw rpcErrors.invalidRequest();
  const method = methods.get(name);
  if (!method) throw rpcErrors.methodNotFound();
  return { method, name, params: readParams(method, params) };
}

function readParams(method: Method, params: unknown): Record<string, unknown> {
  if (Array.isArray(params)) {
    if (params.length > method.params.length) throw rpcErrors.invalidParams('There are too many parameters.');
    return Object.fromEntries(params.map((value, index) => [method.params[index], value]));
  }
  if (typeof params === 'object' && params !== null) {
    const unknown = Object.keys(params).find((name) => !method.params.includes(name));
    if (unknown !== undefined) throw rpcErrors.invalidParams('There is a parameter that the method does not have.');
    return params as Record<string, unknown>;
  }
  throw rpcErrors.invalidParams('params must be an object or an array.');
}

function idOf(request: unknown): string | number | null {
  const id = typeof request === 'object' && request !== null && 'id' in request ? request.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function rpcErrorOf(deps: RpcDeps, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof UnavailableError) throw error;
  if (error instanceof FieldError) return rpcErrors.invalidParams(`${error.message}.`);
  if (error instanceof BusyError) return rpcErrors.unexpected(error.message);
  deps.report(error);
  return rpcErrors.internal();
}

function failure(id: string | number | null, error: RpcError): Record<string, unknown> {
  return { jsonrpc: '2.0', id, error: showError(error) };
}

function reply(response: unknown): RpcAnswer {
  return { status: 200, body: JSON.stringify(response), hangUp: false };
}

const refuse = (params: readonly string[], error: () => RpcError): Method => ({
  params,
  run: async () => {
    throw error();
  },
});

/** Methods that need a compiler, proofs or an L1. */
const refusedMethods: Record<string, Method> = {
  starknet_estimateMessageFee: refuse(['message', 'block_id'], () =>
    rpcErrors.unexpected('The sandbox has no L1 and receives no messages.'),
  ),
  starknet_getCompiledCasm: refuse(
    ['class_hash'],
    () =>
      new RpcError(100, 'Failed to compile the contract', { compilation_error: 'The sandbox compiles no classes.' }),
  ),
  starknet_getStorageProof: refuse(
    ['block_id', 'class_hashes', 'contract_addresses', 'contracts_storage_keys'],
    () => new RpcError(42, "the node doesn't support storage proofs for blocks that are too far in the past"),
  ),
};

export const methods: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...chainMethods,
    ...blockMethods,
    ...transactionMethods,
    ...eventMethods,
    ...stateMethods,
    ...executionMethods,
    ...traceMethods,
    ...submitMethods,
    ...refusedMethods,
  }),
);

/** HTTP 503 without a JSON-RPC answer. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

export interface AppliedFaults {
  readonly head: Head;
  readonly dropTransaction: boolean;
  /** The call runs, then the connection closes without an answer. */
  readonly dropAnswer: boolean;
}

const NO_FAULTS = { dropTransaction: false, dropAnswer: false };
const READ_FAULTS: readonly FaultKind[] = ['error', 'unavailable', 'stale'];
const SUBMIT_FAULTS: readonly FaultKind[] = ['error', 'unavailable', 'reject', 'forget', 'lose-answer'];
const DEFAULT_DELAY_MS = 1_000;
const DEFAULT_ERROR = { code: -32603, message: 'Internal error' };

export async function applyFaults(deps: NodeDeps, head: Head, method: string): Promise<AppliedFaults> {
  const none = { head, ...NO_FAULTS };
  if (!head.faultsActive) return none;
  const slow = await takeFault(deps.db, ['slow'], method);
  if (slow) await pause(slow.delayMs ?? DEFAULT_DELAY_MS);
  const present = slow ? await deps.readHead() : head;
  const fault = await takeFault(deps.db, method in submitMethods ? SUBMIT_FAULTS : READ_FAULTS, method);
  switch (fault?.kind) {
    case 'error':
      throw new RpcError(fault.code ?? DEFAULT_ERROR.code, fault.message ?? DEFAULT_ERROR.message);
    case 'unavailable':
      throw new UnavailableError();
    case 'reject':
      throw rpcErrors.validationFailure(fault.reason ?? 'Rejected by order');
    case 'stale':
      return { ...none, head: await headBefore(deps.db.reads, present, fault.blocks ?? 1) };
    default:
      return { head: present, dropTransaction: fault?.kind === 'forget', dropAnswer: fault?.kind === 'lose-answer' };
  }
}
