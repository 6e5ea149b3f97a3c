import { isObject } from '../client/is-object.ts';

/** A no of the chain: its JSON-RPC code and the innermost reason. Every other node would say the same. */
export interface RpcRefusal {
  readonly ok: false;
  readonly code: number;
  readonly reason: string;
}

export type RpcAnswer<T> = { readonly ok: true; readonly value: T } | RpcRefusal;

/** Codes of the Starknet specification that this library tells apart. */
export const rpcCodes = {
  contractNotFound: 20,
  entrypointNotFound: 21,
  blockNotFound: 24,
  transactionNotFound: 29,
  contractError: 40,
  invalidParams: -32602,
} as const;

/**
 * Errors that speak of blocks, contracts and transactions. With all others a node speaks of itself (an internal error, a limit, a
 * method that it lacks), and the next one may know better.
 */
const ANSWERS: ReadonlySet<number> = new Set(Object.values(rpcCodes));

/** Undefined when the body is not an answer to rely on. */
export function readRpcAnswer<T>(body: unknown, read: (result: unknown) => T | undefined): RpcAnswer<T> | undefined {
  if (!isObject(body)) return undefined;
  if (isObject(body.error)) {
    const { code, message, data } = body.error;
    if (typeof code !== 'number' || !ANSWERS.has(code)) return undefined;
    return { ok: false, code, reason: innermost(data) || String(message) };
  }
  const value = read(body.result);
  return value === undefined ? undefined : { ok: true, value };
}

/** Calls within calls are a few levels deep; a hostile node could send more. */
const MAX_DEPTH = 100;

/** Errors of calls within calls are wrapped once for each; what went wrong is in the middle. */
function innermost(data: unknown): string {
  let error: unknown = data;
  for (let depth = 0; depth < MAX_DEPTH && isObject(error); depth++) error = error.revert_error ?? error.error;
  return typeof error === 'string' ? error : '';
}
