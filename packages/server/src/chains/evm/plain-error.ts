import { BaseError, RpcRequestError } from 'viem';
import { failureIn, NodeFailure } from '../node-failure.ts';

/** A node's no: what every other node of the chain would answer as well. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal';
}

/**
 * The library's errors quote the node's whole address, which often holds a key, and the request. What goes on from here names the
 * host alone and has none of them as its cause, because the log writes causes too.
 */
export function plainError(host: string, error: unknown): Error {
  const refusal = error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : null;
  if (refusal instanceof RpcRequestError) {
    return new NodeRefusal(`${host} answered error ${refusal.code}: ${refusal.details}`);
  }
  const kind = error instanceof Error ? error.name : 'unknown';
  return failureIn(error) ?? new NodeFailure(`the answer of ${host} could not be read (${kind})`, { unclear: true });
}
