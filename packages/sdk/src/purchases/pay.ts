import { toHex } from '@svc/starknet';
import { findPayment } from './find-payment.ts';
import { type Evidence, paymentEvidence } from './payment-evidence.ts';
import { SvcPurchaseError } from './purchase-error.ts';
import type { PurchaseRun } from './purchase-run.ts';
import { executionOf, type PurchaseState } from './purchase-state.ts';
import { sendPayment, unclear } from './send-payment.ts';

/**
 * The hash of the transaction that pays; undefined when it is certain that there is none and never will be.
 *
 * A crash can fall between the service's answer and the app's storing it. So the signed payment itself is sent again: within its window
 * the service answers its first transaction, and for a day after it by the idempotency key. Beyond that the wallet is asked, on the chain.
 */
export async function pay(run: PurchaseRun, state: PurchaseState): Promise<string | undefined> {
  let sent = await sendPayment(run, state, `sku-payment-${toHex(executionOf(state).nonce)}`);
  // A refusal is kept with its key for a day, and what caused it may be over.
  if ('refusal' in sent && run.resumed) sent = await sendPayment(run, state);
  if ('hash' in sent) return sent.hash;
  const { refusal } = sent;
  const evidence = run.resumed ? await askWallet(run, state) : 'open';
  if (evidence === 'spent') return requireFound(run, state);
  if (evidence === 'never') return undefined;
  if (evidence === 'untold') throw unclear(state, refusal);
  const message = `The payment was refused and is not paid so far: ${refusal.message} Do not start anew: call purchaseSku with resume: error.state, which tries the same payment again.`;
  throw new SvcPurchaseError('payment_refused', message, state, refusal);
}

/** What the chain says of the payment. */
export async function askWallet({ client }: PurchaseRun, state: PurchaseState): Promise<Evidence> {
  try {
    return await paymentEvidence(client, BigInt(state.payment.publicKey), executionOf(state));
  } catch (error) {
    throw unclear(state, error);
  }
}

/** The wallet has paid, so somewhere there is a transaction. */
export async function requireFound({ client, bearerToken }: PurchaseRun, state: PurchaseState): Promise<string> {
  const found = await findPayment(client, state, bearerToken).catch((error: unknown) => {
    throw unclear(state, error);
  });
  if (found !== undefined) return found;
  const { walletAddress, token } = state.purchase;
  const message = `The wallet has made the payment, but its history does not show the transaction. Find the one in which ${walletAddress} paid ${state.amount} ${token} (syncOnChain may bring it), put its hash into the state as transactionHash, and resume.`;
  throw new SvcPurchaseError('payment_unclear', message, state);
}
