import { type TxStatus, txStatuses } from '@svc/protocol';

/**
 * Which status of a purchase may follow which. Once its provider is called nothing but the outcome ends it, so there is no way from
 * PROCESSING to CANCELLED, which transactions have; and nothing succeeds that was not ordered.
 */
export const purchaseTransitions: Readonly<Record<TxStatus, readonly TxStatus[]>> = {
  PENDING: ['PROCESSING', 'FAILED', 'CANCELLED'],
  PROCESSING: ['SUCCESS', 'FAILED'],
  SUCCESS: [],
  FAILED: [],
  CANCELLED: [],
};

/** The statuses from which a purchase can reach this one. */
export function purchaseStatusesBefore(status: TxStatus): readonly TxStatus[] {
  return txStatuses.filter((from) => purchaseTransitions[from].includes(status));
}
