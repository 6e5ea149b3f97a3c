import type { Transaction } from '@svc/protocol';
import { askWallet, pay, requireFound } from './pay.ts';
import { SvcPurchaseError } from './purchase-error.ts';
import type { PaidState, PurchaseRun } from './purchase-run.ts';
import { executionOf, type PurchaseState } from './purchase-state.ts';
import { recordPurchase } from './record-purchase.ts';
import { unclear } from './send-payment.ts';

/** Pays, if that is still to be done, and records. Undefined: it is certain that this payment was not made and never will be. */
export async function completePurchase(run: PurchaseRun, state: PurchaseState): Promise<Transaction | undefined> {
  const hash = state.transactionHash ?? (await pay(run, state));
  if (hash === undefined) return undefined;
  const recorded = await recordPurchase(run, await saved(run, state, hash));
  return 'purchase' in recorded ? recorded.purchase : afterRevert(run, recorded.reverted);
}

/** The transaction moved nothing, but until its window is over anyone who has the signed payment can execute it in another one. */
async function afterRevert(run: PurchaseRun, state: PaidState): Promise<Transaction | undefined> {
  const evidence = await askWallet(run, state);
  if (evidence === 'never') return undefined;
  if (evidence === 'untold') throw unclear(state, new Error('The wallet does not tell what it has executed.'));
  if (evidence === 'open') throw failed(state);
  const recorded = await recordPurchase(run, await saved(run, state, await requireFound(run, state)));
  if ('purchase' in recorded) return recorded.purchase;
  throw unclear(recorded.reverted, new Error('The wallet and the service disagree.'));
}

async function saved(run: PurchaseRun, state: PurchaseState, transactionHash: string): Promise<PaidState> {
  const paid = { ...state, transactionHash };
  if (state.transactionHash !== transactionHash) await run.save(paid);
  return paid;
}

function failed(state: PaidState): SvcPurchaseError {
  const until = new Date(Number(executionOf(state).executeBefore) * 1_000).toISOString();
  const message = `The payment was reverted on the chain and nothing was paid. It cannot be repeated safely before its window is over: a quarter of an hour after ${until}, call purchaseSku with resume: error.state.`;
  return new SvcPurchaseError('payment_failed', message, state);
}
