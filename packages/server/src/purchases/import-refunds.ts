import { toHex } from '@svc/starknet';
import type { Db } from '@svc/store';
import { operatorOf, recordChange } from '../audit-log.ts';
import type { FoundPayment } from '../relayer/payer.ts';
import type { ImportedTransaction, NamedPayment, PaymentImporter, Unmatched } from '../relayer/reconcile-accounts.ts';
import { findPurchase, lockPurchase, lockPurchaseOfRefund, type Purchase } from './purchase.ts';
import { changeRefund, storeRefundRelay } from './refunds.ts';

/** Refunds that the chain has and the database does not know, such as after a restore. */
export const refundImporter: PaymentImporter = {
  // Not the number of a refund: where a reverted one is imported, the next refund of the purchase takes that.
  purpose: async (_, { hash }) => `refund imported ${toHex(hash)}`,
  attach: async (tx, relayId, imported) => {
    const unmatched: Unmatched[] = [];
    for (const payment of imported.payments) {
      const reason = await attachRefund(tx, relayId, imported, payment);
      if (reason !== undefined) unmatched.push({ payment, reason });
    }
    return unmatched;
  },
  release: async (tx, relayId) => {
    const purchase = await lockPurchaseOfRefund(tx, relayId);
    if (purchase?.refund.status === 'REFUNDING') await changeRefund(tx, purchase.record.id, 'DUE');
  },
};

async function attachRefund(
  tx: Db,
  relayId: string,
  { hash, executed, operator }: ImportedTransaction,
  payment: FoundPayment,
): Promise<string | undefined> {
  const id = payment.marker?.id ?? '';
  const purchase = await lockPurchase(tx, id);
  if (!purchase) return executed ? `This database has no purchase ${id}.` : undefined;
  if (!isOf(payment, purchase)) return `The payment of ${id} had another sender, token or amount.`;
  const { record, refund } = purchase;
  // A refund that reverted has moved nothing.
  if (refund.relayId === relayId || (!executed && refund.status === undefined)) return undefined;
  if (refund.status === undefined)
    return `Purchase ${id} is ${record.status} here: end it first, then run reconcile again.`;
  if (refund.status === 'REFUNDED') return `Purchase ${id} is refunded by ${refund.hash} already.`;
  if (refund.status === 'DUE') await changeRefund(tx, id, 'REFUNDING');
  await storeRefundRelay(tx, id, relayId);
  const change = { action: 'sku-purchase.reconciled', target: id, changes: { transactionHash: toHex(hash) } };
  await recordChange(tx, operatorOf(record.organizationId, record.environment, operator), change);
  return undefined;
}

const isOf = ({ token, to, amount }: FoundPayment, { payment }: Purchase): boolean =>
  token === payment.token && to === payment.payer && amount === payment.amount;

export async function namedRefund(db: Db, id: string): Promise<NamedPayment | undefined> {
  const purchase = await findPurchase(db, id);
  return purchase && { marker: { kind: 'refund', id }, fits: (payment) => isOf(payment, purchase) };
}
