import type { endpoints, Transaction } from '@svc/protocol';
import type { Call } from '../src/http/call.ts';
import { type RefundDeps, refundSkuPurchase } from '../src/purchases/refunds.ts';
import type { FulfilmentFixture } from './fulfilment.ts';
import type { ChainChanges } from './relayer.ts';

interface Asked {
  readonly hash?: string;
  readonly chain?: ChainChanges;
  readonly caller?: FulfilmentFixture['caller'];
  readonly deps?: Partial<RefundDeps>;
}

/** A request for a refund, as the handler sees it. */
export function refund(fixture: FulfilmentFixture, id: string, asked: Asked = {}): Promise<Transaction> {
  const { hash, chain = {}, caller = fixture.caller, deps = {} } = asked;
  const body = hash === undefined ? {} : { transactionHash: hash };
  const call = { caller, params: { id }, body, transact: fixture.db.tx };
  const request = call as unknown as Call<typeof endpoints.refundSkuPurchase>;
  return refundSkuPurchase({ ...fixture.deps(chain), ...deps }, request) as Promise<Transaction>;
}
