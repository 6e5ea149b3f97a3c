import { type RefundStatus, refundStatuses } from '@svc/protocol';

/**
 * What may follow what, once a refund is due. A transfer that the organisation made itself leads from DUE to REFUNDED. A transaction of
 * ours that did not give the payment back leads back to DUE, when it is over for good; one that a reorganisation took away is under
 * way again.
 */
export const refundTransitions: Readonly<Record<RefundStatus, readonly RefundStatus[]>> = {
  DUE: ['REFUNDING', 'REFUNDED'],
  REFUNDING: ['REFUNDED', 'DUE'],
  REFUNDED: ['REFUNDING'],
};

export function refundStatusesBefore(status: RefundStatus): readonly RefundStatus[] {
  return refundStatuses.filter((from) => refundTransitions[from].includes(status));
}
