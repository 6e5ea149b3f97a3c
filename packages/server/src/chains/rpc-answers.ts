/** A JSON-RPC error as a node sends it. */
export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
}

/** Whether an error speaks of the chain or of the question, so that every other node would answer the same. */
export type IsAnswer = (error: RpcErrorBody) => boolean;

const INVALID_PARAMS = -32602;

/**
 * The errors of the Starknet specification that speak of blocks, contracts and transactions. Left out are those by which a node
 * speaks of itself: 1 (could not take it), 31 and 34 (its limits), 32 (has no blocks), 33 (a continuation it forgot), 38, 42, 63.
 */
const STARKNET_ANSWERS: ReadonlySet<number> = new Set([
  ...[10, 20, 21, 22, 24, 25, 26, 27, 28, 29, 40, 41],
  ...[50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 64, 65],
  INVALID_PARAMS,
]);

export const isStarknetAnswer: IsAnswer = ({ code }) => STARKNET_ANSWERS.has(code);

/** Nodes of EVM chains agree on 3 for a revert; older ones have numbers of their own and say it in words. */
export const isEvmAnswer: IsAnswer = ({ code, message }) =>
  code === 3 || code === INVALID_PARAMS || (isServers(code) && /\brevert/i.test(message));

/** Errors that say that the question was not understood. */
const NOT_UNDERSTOOD: ReadonlySet<number> = new Set([-32700, -32600, INVALID_PARAMS]);

/** Without a list of a service's own errors: not what JSON-RPC keeps for servers, nor what gateways take from HTTP. */
export const isCommonAnswer: IsAnswer = (error) => {
  const { code } = error;
  if (NOT_UNDERSTOOD.has(code) || isEvmAnswer(error)) return true;
  return code > 0 && code !== 63 && !(code >= 400 && code <= 599);
};

const isServers = (code: number) => code >= -32099 && code <= -32000;
