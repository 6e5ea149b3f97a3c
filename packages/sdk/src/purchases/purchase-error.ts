import { SvcError } from '../client/errors.ts';
import type { PurchaseState } from './purchase-state.ts';

/**
 * - `payment_refused`: the service did not take the payment, for example because the wallet has too little: not paid so far
 * - `payment_unclear`: whether the payment was made is not known yet
 * - `payment_failed`: the payment was reverted on the chain: nothing was paid
 * - `purchase_not_recorded`: the payment was sent; the service could not be told yet, or does not see it yet
 * - `purchase_refused`: paid, and the service does not accept it as the price of this service; see `cause`
 */
export type PurchaseErrorCode =
  | 'payment_refused'
  | 'payment_unclear'
  | 'payment_failed'
  | 'purchase_not_recorded'
  | 'purchase_refused';

/**
 * A purchase stopped after its payment was signed. Do not start it anew: call `purchaseSku` with `resume: error.state`, which never
 * pays twice.
 */
export class SvcPurchaseError extends SvcError {
  override readonly name = 'SvcPurchaseError';
  declare readonly code: PurchaseErrorCode;
  readonly state: PurchaseState;

  constructor(code: PurchaseErrorCode, message: string, state: PurchaseState, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
    this.state = state;
  }
}
