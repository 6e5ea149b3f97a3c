export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What a JSON-RPC request comes to: being refused is an expected outcome. */
export type Answer = { readonly result: unknown } | { readonly error: RpcError };

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const LIMIT_EXCEEDED = -32_005;
const EXECUTION_REVERTED = 3;

const MAX_REASON_LENGTH = 1_024;

/**
 * Libraries tell refusals apart by the words that the nodes of live chains use for them; the engine has words of its own.
 */
const liveWords: readonly (readonly [RegExp, string])[] = [
  [/^Sender doesn't have enough funds/, 'insufficient funds for gas * price + value'],
  [/^Nonce too low/, 'nonce too low'],
  [/^Nonce too high/, 'nonce too high'],
  [/^Transaction requires at least \d+ gas/, 'intrinsic gas too low'],
  [/^Transaction gas limit is \d+ and exceeds block gas limit/, 'exceeds block gas limit'],
  [/^Transaction maxFeePerGas .* is too low/, 'max fee per gas less than block base fee'],
  [/invalid chainId/, 'invalid chain id for signer'],
];

export function failure(code: number, message: string, data?: unknown): { error: RpcError } {
  return { error: data === undefined ? { code, message } : { code, message, data } };
}

/** The engine's error in the form that a live node gives it. */
export function asLiveNode(error: RpcError): RpcError {
  const revert = revertData(error.data);
  if (revert !== undefined) return { code: EXECUTION_REVERTED, message: revertMessage(revert), data: revert };
  const words = liveWords.find(([pattern]) => pattern.test(error.message))?.[1];
  return { code: error.code, message: words ? `${words}: ${error.message}` : error.message };
}

function revertData(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('reason' in data)) return undefined;
  const { reason } = data;
  if (typeof reason !== 'object' || reason === null || !('Revert' in reason)) return undefined;
  return typeof reason.Revert === 'string' ? reason.Revert : undefined;
}

/** `Error(string)`: the selector, the offset of the string, its length, its bytes. */
function revertMessage(data: string): string {
  const [, length, text] = /^0x08c379a0.{64}(.{64})(.*)$/.exec(data) ?? [];
  if (length === undefined || text === undefined) return 'execution reverted';
  const size = Number(BigInt(`0x${length}`));
  if (size === 0 || size > MAX_REASON_LENGTH) return 'execution reverted';
  return `execution reverted: ${Buffer.from(text.slice(0, size * 2), 'hex').toString()}`;
}
