import type { RedeemChain } from '@svc/protocol';
import { SvcApiError, SvcConnectionError } from '@svc/sdk';

/** Everything that can stand between a person and the gift; each has words of its own. */
export type Trouble =
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
  | 'unknown';

/** The reasons of the interface, word for word. */
const reasons: Readonly<Record<string, Trouble>> = {
  'Gift not found': 'notFound',
  'Gift has expired': 'expired',
  'Gift redemption limit reached': 'usedUp',
  'Gift redemption limit for this wallet reached': 'walletUsedUp',
  'Gift is not active': 'inactive',
  'Gift has not started yet': 'notStarted',
};

const codes: Readonly<Record<string, Trouble>> = {
  gift_not_found: 'notFound',
  gift_expired: 'expired',
  gift_limit_reached: 'usedUp',
  gift_user_limit_reached: 'walletUsedUp',
  gift_inactive: 'inactive',
  gift_not_started: 'notStarted',
  rate_limited: 'throttled',
  payout_failed: 'payoutFailed',
  chain_not_configured: 'noSolana',
  invalid_request: 'addressRefused',
  redeem_not_found: 'unclear',
};

/** Errors that say nothing of what became of a redeem. */
const PASSING: ReadonlySet<string> = new Set(['rate_limited', 'redeem_not_found']);

export const troubleOfReason = (reason: string): Trouble => reasons[reason] ?? 'unknown';

export function troubleOf(error: unknown): Trouble {
  if (error instanceof SvcConnectionError) return 'network';
  if (!(error instanceof SvcApiError)) return 'unknown';
  return codes[error.code] ?? (error.status === 429 ? 'throttled' : 'unknown');
}

/** Where Starknet itself is not there, choosing Starknet instead is no way out. */
export function troubleOn(chain: RedeemChain, error: unknown): Trouble {
  const trouble = troubleOf(error);
  return trouble === 'noSolana' && chain === 'starknet' ? 'unknown' : trouble;
}

/**
 * A refusal after which nothing was sent and nothing will be: the next try is a new one. Of anything else that is not known, least of
 * all when it is an answer of some machine between the page and the service.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof SvcApiError && Object.hasOwn(codes, error.code) && !PASSING.has(error.code);
}

/** What the next try may not meet any more. */
export function isPassing(error: unknown): boolean {
  if (error instanceof SvcConnectionError) return true;
  if (!(error instanceof SvcApiError) || error.code === 'payout_failed') return false;
  return error.status >= 500 || error.code === 'idempotency_key_in_progress';
}
