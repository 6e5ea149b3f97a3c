import { ApiError, type UsdMicros } from '@svc/protocol';
import type { SeenTransfer } from '../transactions/seen-transaction.ts';

export interface Deposit {
  /** USDC has as many decimals as credits: its units are millionths of a dollar. */
  readonly usdc: bigint;
  readonly paymentAddress: bigint;
  /** Accounts of ours. What one of them sends to the payment address was ours before. */
  readonly own: readonly bigint[];
}

/** The transfers of a transaction that brought USDC to the payment address from somebody else. */
export function depositsIn(transfers: readonly SeenTransfer[], { usdc, paymentAddress, own }: Deposit): SeenTransfer[] {
  const arrived = transfers.filter(({ token, to }) => token === usdc && to === paymentAddress);
  if (arrived.length === 0) {
    throw mismatch('it moves no USDC to the payment address. GET /config tells the address');
  }
  const fromOthers = arrived.filter(
    ({ from, amount }) => from !== paymentAddress && !own.includes(from) && amount > 0n,
  );
  if (fromOthers.length === 0) throw mismatch('its USDC came from an account of the service itself or is nothing');
  return fromOthers;
}

export function sumOf(transfers: readonly SeenTransfer[]): UsdMicros {
  return transfers.reduce((sum, { amount }) => sum + amount, 0n);
}

export function mismatch(found: string): ApiError {
  return new ApiError('transaction_mismatch', `The transaction is no deposit: ${found}.`);
}
