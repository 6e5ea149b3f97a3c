import type { Networks } from '../../chains/networks.ts';
import { lookUp, type SeenTransfer } from '../../transactions/seen-transaction.ts';
import type { Payment, Purchase } from './purchase.ts';

/** What a sealed block shows to have gone from the payer to the payment address. */
export interface Paid {
  readonly amount: bigint;
  readonly blockTime: Date;
}

/**
 * What the chain shows of a payment. `paid`: a sealed block shows at least what was recorded. `less`: it shows less, or nothing, which was
 * seen otherwise before, so it may as well be a receipt that lacks events. `unpaid`: it was reverted there. `missing`: the chain does not
 * know it. `waiting`: the chain has it, outside of a sealed block. `unanswered`: there is nothing to tell.
 */
export type PaymentSight =
  | ({ readonly state: 'paid' | 'less' } & Paid)
  | { readonly state: 'unpaid'; readonly reason: string }
  | { readonly state: 'missing' | 'waiting' | 'unanswered' };

const REVERTED = 'The payment was reverted on the chain';

/** A chain that gives no answer, or is not configured at the moment, is `unanswered`, however long that takes. */
export function lookForPayment(networks: Networks, { record, payment }: Purchase): Promise<PaymentSight> {
  return look(networks, record.environment, payment).catch((): PaymentSight => ({ state: 'unanswered' }));
}

async function look(
  networks: Networks,
  environment: Purchase['record']['environment'],
  payment: Payment,
): Promise<PaymentSight> {
  const sight = await lookUp(networks, environment, 'STARKNET', payment.hash);
  if (sight === 'unknown') return { state: 'missing' };
  if (sight === 'waiting' || !sight.accepted || !sight.time) return { state: 'waiting' };
  if (sight.reverted) {
    return { state: 'unpaid', reason: sight.revertReason ? `${REVERTED}: ${sight.revertReason}` : `${REVERTED}.` };
  }
  const amount = sumOf(payment, sight.transfers);
  return { state: amount > 0n && amount >= payment.amount ? 'paid' : 'less', amount, blockTime: sight.time };
}

/** All that went from the payer to the payment address counts. */
function sumOf({ token, payer, recipient }: Payment, transfers: readonly SeenTransfer[]): bigint {
  const own = transfers.filter((one) => one.token === token && one.from === payer && one.to === recipient);
  return own.reduce((sum, { amount }) => sum + amount, 0n);
}
