import { type TxStatus, txStatuses } from '@svc/protocol';

type Machine = Readonly<Record<TxStatus, readonly TxStatus[]>>;

export const transitions: Machine = {
  PENDING: ['PROCESSING', 'SUCCESS', 'FAILED', 'CANCELLED'],
  PROCESSING: ['SUCCESS', 'FAILED', 'CANCELLED'],
  SUCCESS: [],
  FAILED: [],
  CANCELLED: [],
};

/** What else can happen when the chain takes back a block. A success that is found in another block stays one. */
export const reorganisations: Machine = {
  PENDING: [],
  PROCESSING: [],
  SUCCESS: ['SUCCESS', 'FAILED'],
  FAILED: ['SUCCESS'],
  CANCELLED: [],
};

/** The statuses from which a record can reach this one. */
export function statusesBefore(status: TxStatus, { reorganised = false } = {}): readonly TxStatus[] {
  return txStatuses.filter(
    (from) => transitions[from].includes(status) || (reorganised && reorganisations[from].includes(status)),
  );
}
