/** An error of JSON-RPC or of the Starknet specification: what a client is meant to see. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export function showError(error: RpcError): { code: number; message: string; data?: unknown } {
  return { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
}

/** The errors with their codes and sentences as the specification has them. */
export const rpcErrors = {
  parse: () => new RpcError(-32700, 'Parse error'),
  invalidRequest: (data?: string) => new RpcError(-32600, 'Invalid Request', data),
  methodNotFound: () => new RpcError(-32601, 'Method not found'),
  invalidParams: (data: string) => new RpcError(-32602, 'Invalid params', data),
  internal: (data?: string) => new RpcError(-32603, 'Internal error', data),
  noTrace: (status: string) => new RpcError(10, 'No trace available for transaction', { status }),
  contractNotFound: () => new RpcError(20, 'Contract not found'),
  entrypointNotFound: (data: string) => new RpcError(21, 'Requested entrypoint does not exist in the contract', data),
  blockNotFound: () => new RpcError(24, 'Block not found'),
  invalidTransactionIndex: () => new RpcError(27, 'Invalid transaction index in a block'),
  classHashNotFound: () => new RpcError(28, 'Class hash not found'),
  transactionNotFound: () => new RpcError(29, 'Transaction hash not found'),
  pageSizeTooBig: () => new RpcError(31, 'Requested page size is too big'),
  invalidContinuationToken: () => new RpcError(33, 'The supplied continuation token is invalid or unknown'),
  tooManyKeys: () => new RpcError(34, 'Too many keys provided in a filter'),
  contractError: (revertError: unknown) => new RpcError(40, 'Contract error', { revert_error: revertError }),
  executionError: (index: number, error: unknown) =>
    new RpcError(41, 'Transaction execution error', { transaction_index: index, execution_error: error }),
  classAlreadyDeclared: () => new RpcError(51, 'Class already declared'),
  invalidNonce: (data: string) => new RpcError(52, 'Invalid transaction nonce', data),
  insufficientResources: (data: string) =>
    new RpcError(53, "The transaction's resources don't cover validation or the minimal transaction fee", data),
  insufficientBalance: (data: string) =>
    new RpcError(54, "Account balance is smaller than the transaction's maximal fee", data),
  validationFailure: (data: string) => new RpcError(55, 'Account validation failed', data),
  compilationFailed: (data: string) => new RpcError(56, 'Compilation failed', data),
  nonAccount: () => new RpcError(58, 'Sender address is not an account contract'),
  duplicateTransaction: () => new RpcError(59, 'A transaction with the same hash already exists in the mempool'),
  unsupportedVersion: () => new RpcError(61, 'The transaction version is not supported'),
  unexpected: (data: string) => new RpcError(63, 'An unexpected error occurred', data),
  underpriced: () => new RpcError(64, 'Replacement transaction is underpriced'),
} as const;
