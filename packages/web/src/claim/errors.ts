import type { RedeemChain } from '@svc/protocol';
import { SvcApiError, SvcConnectionError } from '@svc/sdk';

export type ClaimErrorCode =
  | 'notFound'
  | 'expired'
  | 'usedUp'
  | 'walletUsedUp'
  | 'inactive'
  | 'notStarted'
  | 'throttled'
  | 'network'
  | 'payoutFailed'
  | 'noSolana'
  | 'addressRefused'
  | 'stuck'
  | 'unclear'
  | 'noNewWallets'
  | 'tooLate'
  | 'unknown';

/** The API's reasons, verbatim. */
const reasons: Readonly<Record<string, ClaimErrorCode>> = {
  'Gift not found': 'notFound',
  'Gift has expired': 'expired',
  'Gift redemption limit reached': 'usedUp',
  'Gift redemption limit for this wallet reached': 'walletUsedUp',
  'Gift is not active': 'inactive',
  'Gift has not started yet': 'notStarted',
};

const codes: Readonly<Record<string, ClaimErrorCode>> = {
  gift_not_found: 'notFound',
  gift_expired: 'expired',
  gift_limit_reached: 'usedUp',
  gift_user_limit_reached: 'walletUsedUp',
  gift_inactive: 'inactive',
  gift_not_started: 'notStarted',
  rate_limited: 'throttled',
  proof_of_work_required: 'throttled',
  invalid_proof_of_work: 'throttled',
  payout_failed: 'payoutFailed',
  chain_not_configured: 'noSolana',
  invalid_request: 'addressRefused',
  redeem_not_found: 'unclear',
};

/** Codes that leave the outcome of the redeem open. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'rate_limited',
  'proof_of_work_required',
  'invalid_proof_of_work',
  'redeem_not_found',
]);

export const errorCodeOfReason = (reason: string): ClaimErrorCode => reasons[reason] ?? 'unknown';

export function errorCodeOf(error: unknown): ClaimErrorCode {
  if (error instanceof SvcConnectionError) return 'network';
  if (!(error instanceof SvcApiError)) return 'unknown';
  return codes[error.code] ?? (error.status === 429 ? 'throttled' : 'unknown');
}

/** Choosing Starknet is no help when Starknet itself is not configured. */
export function errorCodeOn(chain: RedeemChain, error: unknown): ClaimErrorCode {
  const errorCode = errorCodeOf(error);
  return errorCode === 'noSolana' && chain === 'starknet' ? 'unknown' : errorCode;
}

// A known refusal: nothing was sent and nothing will be, so the next attempt is a new redeem. Unknown codes may come
// from a proxy and do not count.
export function isRefusal(error: unknown): boolean {
  return error instanceof SvcApiError && Object.hasOwn(codes, error.code) && !TRANSIENT.has(error.code);
}

export function isTransient(error: unknown): boolean {
  if (error instanceof SvcConnectionError) return true;
  if (!(error instanceof SvcApiError) || error.code === 'payout_failed') return false;
  return error.status >= 500 || error.code === 'idempotency_key_in_progress';
}
