import { ApiError } from '@svc/protocol';
import { type Call, selector } from '@svc/starknet';
import type { Db } from '@svc/store';
import { recordChange } from '../../audit/record-change.ts';
import type { Caller } from '../../http/caller.ts';
import type { PayAnswer } from '../../relayer/payer.ts';
import { lockPurchase, type Payment, type Purchase } from '../fulfilment/purchase.ts';
import type { RefundParts } from './parts.ts';
import { changeRefund, keepRefundRelay } from './store.ts';

const WORD = 128n;

/** Rolls back what was to be stored: somebody else was faster, and what is stored says what became of it. */
class NotDueError extends Error {
  override readonly name = 'NotDueError';
}

/**
 * Has the manager send what was paid back to the payer. A refund is REFUNDING from the moment in which its transaction is stored; the
 * row says which one is next, so of several that begin at once one is stored, and the others find it.
 */
export async function payBack({ payer }: RefundParts, caller: Caller, purchase: Purchase): Promise<void> {
  const { id, environment } = purchase.record;
  const number = purchase.refund.begun + 1;
  const purpose = `refund ${id} ${number}`;
  const order = { environment, kind: 'refund', purpose, calls: [transferBack(purchase.payment)] } as const;
  const answer = await payer
    .pay(order, (tx, relay) => begin(tx, caller, { id, number, relayId: relay.id }))
    .catch((error: unknown): PayAnswer | undefined => {
      if (error instanceof NotDueError) return undefined;
      if (error instanceof ApiError && error.code === 'fee_too_high') return { ok: false, reason: error.message };
      throw error;
    });
  if (!answer || answer.ok) return;
  throw new ApiError('refund_failed', undefined, { cause: new Error(`The refund of ${id}: ${answer.reason}`) });
}

function transferBack({ token, payer, amount }: Payment): Call {
  const calldata = [payer, BigInt.asUintN(Number(WORD), amount), amount >> WORD];
  return { to: token, selector: selector('transfer'), calldata };
}

async function begin(
  tx: Db,
  caller: Caller,
  { id, number, relayId }: { readonly id: string; readonly number: number; readonly relayId: string },
): Promise<void> {
  const purchase = await lockPurchase(tx, id);
  if (purchase?.refund.status !== 'DUE' || purchase.refund.begun !== number - 1) throw new NotDueError();
  await changeRefund(tx, id, 'REFUNDING');
  await keepRefundRelay(tx, id, relayId);
  const changes = { refundStatus: 'REFUNDING' };
  await recordChange(tx, caller, { action: 'sku-purchase.refund-begun', target: id, changes });
}
