import { ApiError } from '@svc/protocol';
import { LibraryError } from 'starknet';

/** starknet.js passes errors of its own kind on as they are and flattens all others, so this is one of them. */
export class NodeFailure extends LibraryError {
  /** True when the request may have reached the node and been obeyed, although no answer came. */
  readonly unclear: boolean;

  constructor(message: string, options: { unclear: boolean; cause?: unknown }) {
    super(message);
    this.name = 'NodeFailure';
    this.unclear = options.unclear;
    this.cause = options.cause;
  }
}

/** None of a chain's nodes gave an answer. Why is the operator's business, and in `cause`. */
export class ChainUnavailableError extends ApiError {
  constructor(chain: string, options?: ErrorOptions) {
    super('chain_unavailable', `No node of ${chain} answers at the moment. Try again.`, options);
  }
}

/** A node that is on another chain than the configuration says: nothing may be asked of it or sent to it. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError';
}

/** Libraries wrap what their transport throws, a few levels deep at most. */
const MAX_CAUSES = 10;

export function failureIn(error: unknown): NodeFailure | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    if (current instanceof NodeFailure) return current;
    current = current.cause;
  }
  return undefined;
}
