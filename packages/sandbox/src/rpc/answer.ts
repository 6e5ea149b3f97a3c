import { FieldError } from '../chain/fields.ts';
import { readHead } from '../chain/head.ts';
import { BusyError } from '../chain/writer.ts';
import type { Method, NodeParts, SpecVersion } from './context.ts';
import { methods } from './methods.ts';
import { obeyOrders, UnavailableError } from './orders.ts';
import { RpcError, rpcErrors, showError } from './rpc-error.ts';

/** A provider that batches sends a handful; each call may cost a transaction. */
const MAX_BATCH = 100;

export interface RpcAnswer {
  readonly status: number;
  readonly body: string;
  /** The connection closes without an answer. */
  readonly hangUp: boolean;
}

export interface RpcNode extends NodeParts {
  /** Is told of faults of ours; a client only learns that there was one. */
  report(error: unknown): void;
}

interface Done {
  readonly response: Record<string, unknown>;
  readonly hangUp: boolean;
}

/** Answers the body of an HTTP request: one call or a batch of them, one after the other. */
export async function answerRpc(node: RpcNode, body: string, spec: SpecVersion): Promise<RpcAnswer> {
  const request = parse(body);
  if (request instanceof RpcError) return reply(failure(null, request));
  try {
    if (!Array.isArray(request)) {
      const { response, hangUp } = await answerOne(node, request, spec);
      return { ...reply(response), hangUp };
    }
    const done: Done[] = [];
    for (const one of request) done.push(await answerOne(node, one, spec));
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

async function answerOne(node: RpcNode, request: unknown, spec: SpecVersion): Promise<Done> {
  const id = idOf(request);
  try {
    const { method, name, params } = readCall(request);
    const { reads } = node.db;
    const present = await readHead(reads);
    const { head, forgets, losesAnswer } = await obeyOrders(node, present, name);
    await node.cache.catchUp(reads, present);
    const result = await method.run({ ...node, reads, head, forgets, spec }, params);
    return { response: { jsonrpc: '2.0', id, result }, hangUp: losesAnswer };
  } catch (error) {
    return { response: failure(id, rpcErrorOf(node, error)), hangUp: false };
  }
}

function readCall(request: unknown): { method: Method; name: string; params: Record<string, unknown> } {
  if (typeof request !== 'object' || request === null) throw rpcErrors.invalidRequest();
  const { jsonrpc, method: name, params = [] } = request as Record<string, unknown>;
  if (jsonrpc !== '2.0' || typeof name !== 'string') throw rpcErrors.invalidRequest();
  const method = methods.get(name);
  if (!method) throw rpcErrors.methodNotFound();
  return { method, name, params: readParams(method, params) };
}

/** By name or by position. */
function readParams(method: Method, params: unknown): Record<string, unknown> {
  if (Array.isArray(params)) {
    if (params.length > method.params.length) throw rpcErrors.invalidParams('There are too many parameters.');
    return Object.fromEntries(params.map((value, index) => [method.params[index], value]));
  }
  if (typeof params === 'object' && params !== null) return params as Record<string, unknown>;
  throw rpcErrors.invalidParams('params must be an object or an array.');
}

function idOf(request: unknown): string | number | null {
  const id = typeof request === 'object' && request !== null && 'id' in request ? request.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function rpcErrorOf(node: RpcNode, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof UnavailableError) throw error;
  if (error instanceof FieldError) return rpcErrors.invalidParams(`${error.message}.`);
  if (error instanceof BusyError) return rpcErrors.unexpected(error.message);
  node.report(error);
  return rpcErrors.internal();
}

function failure(id: string | number | null, error: RpcError): Record<string, unknown> {
  return { jsonrpc: '2.0', id, error: showError(error) };
}

function reply(response: unknown): RpcAnswer {
  return { status: 200, body: JSON.stringify(response), hangUp: false };
}
