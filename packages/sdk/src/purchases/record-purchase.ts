import type { Transaction } from '@svc/protocol';
import { SvcApiError } from '../client/errors.ts';
import { getTransactionStatus } from '../transactions/get-transaction-status.ts';
import { createSkuPurchase } from './create-sku-purchase.ts';
import { SvcPurchaseError } from './purchase-error.ts';
import type { PaidState, PurchaseRun } from './purchase-run.ts';
import { messageOf } from './send-payment.ts';

/** `reverted`: the transaction moved no money. */
export type Recorded = { readonly purchase: Transaction } | { readonly reverted: PaidState };

/** A live chain shows a transaction within seconds, and with a raised fee within a minute. */
const PATIENCE_MS = 120_000;
const RETRY_INTERVAL_MS = 3_000;

/** Tells the service what was bought with the payment, as often as it takes until the service sees the payment. */
export async function recordPurchase(run: PurchaseRun, state: PaidState): Promise<Recorded> {
  const { runtime } = run.client;
  const deadline = runtime.now() + PATIENCE_MS;
  for (let paid = state; ; ) {
    try {
      return { purchase: await record(run, paid) };
    } catch (error) {
      const code = error instanceof SvcApiError && error.status < 500 ? error.code : undefined;
      if (code === 'transaction_reverted') return { reverted: paid };
      if (code !== 'transaction_not_found') throw stopped(paid, error);
      const current = await look(run, paid);
      if (current === 'reverted') return { reverted: paid };
      if (BigInt(current) !== BigInt(paid.transactionHash)) {
        paid = { ...paid, transactionHash: current };
        await run.save(paid);
      }
      if (runtime.now() >= deadline) throw stopped(paid, error);
      await runtime.sleep(RETRY_INTERVAL_MS);
    }
  }
}

async function record({ client, bearerToken, resumed }: PurchaseRun, state: PaidState): Promise<Transaction> {
  const { purchase, transactionHash } = state;
  const body = { ...purchase, transactionHash };
  try {
    return await createSkuPurchase(client, { ...body, idempotencyKey: `sku-purchase-${transactionHash}` }, bearerToken);
  } catch (error) {
    // A refusal is kept with its key for a day, and what caused it may be over.
    if (!(resumed && isRefusal(error))) throw error;
    return createSkuPurchase(client, body, bearerToken);
  }
}

/** The transaction that counts: with a raised fee the same payment has another hash. */
async function look({ client, bearerToken }: PurchaseRun, state: PaidState): Promise<string | 'reverted'> {
  try {
    const { status, transactionHash } = await getTransactionStatus(
      client,
      { hash: state.transactionHash },
      bearerToken,
    );
    return status === 'REVERTED' || status === 'REJECTED' ? 'reverted' : transactionHash;
  } catch (error) {
    throw stopped(state, error);
  }
}

const NOT_REFUSALS: ReadonlySet<string> = new Set(['idempotency_key_in_progress']);

/** Whether the service has considered the purchase and said no. */
function isRefusal(error: unknown): error is SvcApiError {
  if (!(error instanceof SvcApiError) || NOT_REFUSALS.has(error.code)) return false;
  return error.status === 400 || error.status === 404;
}

function stopped(state: PaidState, error: unknown): SvcPurchaseError {
  const amount = `${state.amount} ${state.purchase.token}`;
  const isSeen = !(error instanceof SvcApiError && error.code === 'transaction_not_found');
  if (isSeen && isRefusal(error)) {
    const message = `${amount} were paid with ${state.transactionHash}, but the service refuses the purchase: ${error.message} Ask its operator for a refund.`;
    return new SvcPurchaseError('purchase_refused', message, state, error);
  }
  const message = `The payment of ${amount} was sent with ${state.transactionHash}, but the purchase is not recorded yet: ${messageOf(error)} Do not start anew: call purchaseSku with resume: error.state.`;
  return new SvcPurchaseError('purchase_not_recorded', message, state, error);
}
