import { ApiError } from '@svc/protocol';
import type { PaymentSight } from '../fulfilment/payment.ts';

/** What a reorganisation took back from us is not given back: the payer has it already. */
export function requireShown(sight: PaymentSight): void {
  switch (sight.state) {
    case 'paid':
      return;
    case 'unanswered':
      throw new ApiError('chain_unavailable');
    case 'waiting':
      throw new ApiError('chain_unavailable', 'The payment waits for a block again. Try again once it stands in one.');
    case 'missing':
      throw new ApiError('purchase_not_refundable', 'The chain no longer knows the payment of this purchase.');
    case 'less':
      throw new ApiError(
        'purchase_not_refundable',
        `The chain shows ${sight.amount} units of the payment at the moment, less than were recorded.`,
      );
    case 'unpaid':
      throw new ApiError('purchase_not_refundable', sight.reason);
  }
}
