import type { Outcome } from './model.ts';
import { bySession, done, events, reverts, TRUE, transfer } from './words.ts';

export const PER_CALL: Outcome = reverts('Spending: exceeds per-call');
export const WINDOW: Outcome = reverts('Spending: exceeds window limit');

export const paid = (...amounts: readonly bigint[]): Outcome =>
  done(
    amounts.map(() => TRUE),
    amounts.map((amount) => events.transfer(amount)),
  );

export const pay = (nonce: bigint, amount: bigint, outcome: Outcome = paid(amount)) =>
  bySession({ nonce }, [transfer(amount)], outcome);
