import type { endpoints, Transaction } from '@svc/protocol';
import type { Call } from '../src/http/call.ts';
import { type RefundParts, refundSkuPurchase } from '../src/purchases/refunds.ts';
import type { Shop } from './fulfilment.ts';
import type { ChainChanges } from './relayer.ts';

interface Asked {
  readonly hash?: string;
  readonly chain?: ChainChanges;
  readonly caller?: Shop['caller'];
  readonly parts?: Partial<RefundParts>;
}

/** A request for a refund, as the handler sees it. */
export function refund(shop: Shop, id: string, asked: Asked = {}): Promise<Transaction> {
  const { hash, chain = {}, caller = shop.caller, parts = {} } = asked;
  const body = hash === undefined ? {} : { transactionHash: hash };
  const call = { caller, params: { id }, body, transact: shop.db.tx };
  const request = call as unknown as Call<typeof endpoints.refundSkuPurchase>;
  return refundSkuPurchase({ ...shop.parts(chain), ...parts }, request) as Promise<Transaction>;
}
