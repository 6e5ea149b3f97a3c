import { ApiError } from '@svc/protocol';
import type { SeenTransaction } from '../../transactions/seen-transaction.ts';
import type { Purchase } from '../fulfilment/purchase.ts';

/** A `transaction_mismatch` unless the transaction left the payer with at least what was paid, after it was paid. */
export function requireGivenBack(
  { payment, blockTime }: Pick<Purchase, 'payment' | 'blockTime'>,
  { transfers, time }: Pick<SeenTransaction, 'transfers' | 'time'>,
): void {
  if (blockTime && time && time < blockTime) throw mismatch('it was made before the payment');
  const { token, payer, amount } = payment;
  const ofToken = transfers.filter((transfer) => transfer.token === token);
  // What the payer sends to itself, or on to somebody in the same transaction, was not given back.
  const got = sumOf(ofToken.filter(({ to }) => to === payer)) - sumOf(ofToken.filter(({ from }) => from === payer));
  if (got <= 0n) throw mismatch('it moves nothing of the token to the payer');
  if (got < amount) throw mismatch(`it gives ${got} of the ${amount} units back that were paid`);
}

const sumOf = (transfers: SeenTransaction['transfers']): bigint =>
  transfers.reduce((sum, { amount }) => sum + amount, 0n);

const mismatch = (found: string): ApiError =>
  new ApiError('transaction_mismatch', `The transaction is no refund of this purchase: ${found}.`);
