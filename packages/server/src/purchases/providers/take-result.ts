import type { Environment } from '@svc/protocol';
import type { Db } from '@svc/store';
import { endOrder } from '../fulfilment/end-order.ts';
import type { OrderResult } from './provider.ts';
import { findOrder, type OrderRow } from './store.ts';

/** `known`: the order has this result, now or since before. `contradicted`: it had ended with another one, which stays. */
export type Taken = 'known' | 'contradicted' | 'unknown';

/** What a provider says of an order by itself. Orders of another environment are unknown to it. */
export function takeResult(
  db: Db,
  environment: Environment,
  orderId: string,
  result: OrderResult,
): Promise<{ readonly taken: Taken; readonly order: OrderRow | undefined }> {
  return db.tx(async (tx) => {
    const found = await findOrder(tx, orderId);
    if (found?.environment !== environment) return { taken: 'unknown', order: undefined };
    const outcome = await endOrder(tx, orderId, result);
    if (outcome === 'unknown') return { taken: 'unknown', order: undefined };
    // Looked at again: the row is locked now, and before it may not have had its end yet.
    const order = await findOrder(tx, orderId);
    const isKnown = outcome === 'stored' || (order !== undefined && isSameWord(order, result));
    return { taken: isKnown ? 'known' : 'contradicted', order };
  });
}

/** Why it failed may be said in other words, and that it was accepted may be overtaken by its end. */
function isSameWord({ status, fileNumber }: OrderRow, result: OrderResult): boolean {
  switch (result.state) {
    case 'accepted':
      return true;
    case 'failed':
      return status === 'FAILED';
    case 'completed':
      return status === 'SUCCESS' && fileNumber === result.fileNumber;
  }
}
