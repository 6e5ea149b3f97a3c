import type { Handlers } from '../http/call.ts';
import { createPurchase } from './create-purchase.ts';
import { cancelSkuPurchase } from './fulfilment/cancel.ts';
import type { PurchaseParts } from './parts.ts';
import { getPurchase, listOwnPurchases } from './read-purchases.ts';
import type { RefundParts } from './refunds/parts.ts';
import { refundSkuPurchase } from './refunds/refund.ts';

type PurchaseOperation =
  | 'createSkuPurchase'
  | 'getSkuPurchase'
  | 'listSkuPurchases'
  | 'cancelSkuPurchase'
  | 'refundSkuPurchase';

export function purchaseHandlers(parts: PurchaseParts & RefundParts): Pick<Handlers, PurchaseOperation> {
  const { reads } = parts.db;
  return {
    createSkuPurchase: (call) => createPurchase(parts, call),
    getSkuPurchase: ({ caller, params }) => getPurchase(reads, caller, params.id),
    listSkuPurchases: ({ caller, query }) => listOwnPurchases(reads, caller, query),
    cancelSkuPurchase: (call) => cancelSkuPurchase(parts, call),
    refundSkuPurchase: (call) => refundSkuPurchase(parts, call),
  };
}
