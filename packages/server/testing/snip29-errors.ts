/** The errors of SNIP-29, by their names. */
const codes = {
  INVALID_ADDRESS: 150,
  TOKEN_NOT_SUPPORTED: 151,
  INVALID_SIGNATURE: 153,
  MAX_AMOUNT_TOO_LOW: 154,
  CLASS_HASH_NOT_SUPPORTED: 155,
  TRANSACTION_EXECUTION_ERROR: 156,
  INVALID_TIME_BOUNDS: 157,
  INVALID_DEPLOYMENT_DATA: 158,
  INVALID_CLASS_HASH: 159,
  INVALID_ID: 160,
  UNKNOWN_ERROR: 163,
} as const;

export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export class Snip29Error extends Error {
  readonly failure: RpcFailure;

  constructor(name: keyof typeof codes, data?: unknown) {
    super(name);
    this.failure = { code: codes[name], message: `An error occurred (${name})`, ...(data !== undefined && { data }) };
  }
}

export const invalidParams: RpcFailure = { code: -32602, message: 'Invalid params' };
export const methodNotFound: RpcFailure = { code: -32601, message: 'Method not found' };
