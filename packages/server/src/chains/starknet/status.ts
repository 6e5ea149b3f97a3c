import type { OnChainTxStatus } from '@svc/protocol';
import type { TransactionStatus } from './chain.ts';

const finalities: Readonly<Record<string, OnChainTxStatus>> = {
  RECEIVED: 'RECEIVED',
  CANDIDATE: 'PENDING',
  PRE_CONFIRMED: 'PENDING',
  ACCEPTED_ON_L2: 'ACCEPTED_ON_L2',
  ACCEPTED_ON_L1: 'ACCEPTED_ON_L1',
};

/** The status of a hash that the node has never heard of. */
export const NOT_RECEIVED: TransactionStatus = { status: 'NOT_RECEIVED', accepted: false, revertReason: undefined };

/** Nodes tell finality and execution apart; the interface has one word for both. */
export function toStatus(
  finality: string,
  execution: string | undefined,
  reason: string | undefined,
): TransactionStatus {
  const status = finalities[finality];
  if (status === undefined) throw new TypeError(`A node speaks of the finality ${finality}`);
  const accepted = status === 'ACCEPTED_ON_L2' || status === 'ACCEPTED_ON_L1';
  if (execution === 'REVERTED') return { status: 'REVERTED', accepted, revertReason: reason ?? '' };
  return { status, accepted, revertReason: undefined };
}
