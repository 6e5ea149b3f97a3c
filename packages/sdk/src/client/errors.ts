import type { ErrorCode } from '@svc/protocol';

/** As documented in the interface. */
export type SessionErrorCode =
  | 'INVALID_WALLET_TYPE_FOR_SESSION'
  | 'SESSION_EXPIRED'
  | 'SESSION_NOT_REGISTERED'
  | 'SESSION_REVOKED'
  | 'SESSION_MAX_CALLS_EXCEEDED'
  | 'SESSION_ENTRYPOINT_NOT_ALLOWED'
  | 'SESSION_DECRYPTION_FAILED'
  | 'SESSION_CREATION_FAILED';

/** Bound for circular causes. */
const MAX_CAUSES = 32;

/**
 * Base class of the library's errors. `code` is stable; compare it instead of the message.
 *
 * @example
 * try {
 *   await svc.getWallet({ externalUserId: 'unknown-user' });
 * } catch (error) {
 *   if (error instanceof SvcError && error.code === 'wallet_not_found') console.log('no wallet yet');
 *   else throw error;
 * }
 */
export class SvcError extends Error {
  override readonly name: string = 'SvcError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** The first error in the chain of causes, this one included, that `is` accepts; without `is`, the last one. */
  walk(is?: (error: unknown) => boolean): unknown {
    let error: unknown = this;
    for (let depth = 0; depth < MAX_CAUSES; depth++) {
      if (is?.(error)) return error;
      const cause = error instanceof Error ? error.cause : undefined;
      if (cause === undefined) break;
      error = cause;
    }
    return is ? undefined : error;
  }
}

export interface AnswerDetails {
  readonly status: number;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** The service answered with an error. `requestId` identifies the request in its log. */
export class SvcApiError extends SvcError {
  override readonly name = 'SvcApiError';
  declare readonly code: ErrorCode | (string & {});
  readonly status: number;
  readonly requestId: string | undefined;
  /** From the service's `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, details: AnswerDetails, options?: ErrorOptions) {
    super(code, message, options);
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** The service, or a node, could not be reached or did not answer in time. The outcome of a write is unknown. */
export class SvcConnectionError extends SvcError {
  override readonly name = 'SvcConnectionError';
  declare readonly code: 'connection_failed' | 'timeout' | 'invalid_answer';
}

/** A contract call failed. */
export class SvcChainError extends SvcError {
  override readonly name = 'SvcChainError';
  declare readonly code: 'contract_not_found' | 'entrypoint_not_found' | 'call_failed';
}

/** Invalid arguments; nothing was sent. */
export class SvcInputError extends SvcError {
  override readonly name = 'SvcInputError';
  declare readonly code:
    | 'invalid_options'
    | 'invalid_input'
    | 'secret_key_in_browser'
    | 'secret_key_required'
    | 'missing_bearer_token';
}

/** A private key could not be encrypted or decrypted. */
export class SvcKeyError extends SvcError {
  override readonly name = 'SvcKeyError';
  declare readonly code:
    | 'decryption_failed'
    | 'unsupported_envelope'
    | 'weak_encrypt_key'
    | 'wrong_key'
    | 'crypto_unavailable';
}

/** The service's typed data differs from the request. Nothing was signed. */
export class SvcTypedDataError extends SvcError {
  override readonly name = 'SvcTypedDataError';
  declare readonly code: 'typed_data_mismatch';
}

/** The service names a class, token, payment address, pool or bridge that the library and the app do not accept. Nothing was signed. */
export class SvcTrustError extends SvcError {
  override readonly name = 'SvcTrustError';
  declare readonly code:
    | 'untrusted_class'
    | 'untrusted_token'
    | 'untrusted_payment_address'
    | 'untrusted_pool'
    | 'untrusted_bridge';
}

/** A passkey could not be created or used. */
export class SvcPasskeyError extends SvcError {
  override readonly name = 'SvcPasskeyError';
  declare readonly code: 'passkey_unavailable' | 'passkey_prf_unsupported' | 'passkey_cancelled' | 'passkey_not_found';
}

export class SvcSessionError extends SvcError {
  override readonly name = 'SvcSessionError';
  declare readonly code: SessionErrorCode | 'SPENDING_POLICIES_UNSUPPORTED';
}

export type PrivateBalanceErrorCode =
  | 'SHIELD_PAUSED'
  | 'POOL_BUSY'
  | 'INSUFFICIENT_PRIVATE_BALANCE'
  | 'POOL_FEE_UNPAID'
  | 'PROOF_REJECTED'
  | 'NO_PRIVATE_POOL';

/** An operation on a private balance was refused. Nothing was moved. */
export class SvcPrivateBalanceError extends SvcError {
  override readonly name = 'SvcPrivateBalanceError';
  declare readonly code: PrivateBalanceErrorCode;
  /** With `POOL_BUSY`: after so many blocks the pool takes the account's next operation. */
  readonly blocksToWait: number | undefined;

  constructor(
    code: PrivateBalanceErrorCode,
    message: string,
    options: ErrorOptions & { readonly blocksToWait?: number | undefined } = {},
  ) {
    super(code, message, options);
    this.blocksToWait = options.blocksToWait;
  }
}

/** A webhook could not be verified. */
export class SvcWebhookError extends SvcError {
  override readonly name = 'SvcWebhookError';
  declare readonly code:
    | 'missing_header'
    | 'invalid_timestamp'
    | 'too_old'
    | 'too_new'
    | 'no_matching_signature'
    | 'invalid_secret'
    | 'invalid_payload';
}
