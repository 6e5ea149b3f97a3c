import { SvcApiError } from '../client/errors.ts';
import { sendSignedCalls } from '../signing/send-signed-calls.ts';
import { SvcPurchaseError } from './purchase-error.ts';
import type { PurchaseRun } from './purchase-run.ts';
import type { PurchaseState } from './purchase-state.ts';

export type Sent = { readonly hash: string } | { readonly refusal: SvcApiError };

/** What the service says before it takes a transaction. After any other failure it may have taken it. */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_typed_data',
  'typed_data_expired',
  'invalid_signature',
  'wallet_not_deployed',
  'wallet_not_found',
  'transaction_reverted',
  'fee_too_high',
  'chain_not_configured',
]);

/** Hands the signed payment to the service, which relays what has the same wallet and nonce once, however often it is asked. */
export async function sendPayment(
  { client, bearerToken }: PurchaseRun,
  state: PurchaseState,
  idempotencyKey?: string,
): Promise<Sent> {
  // By name: a stored state may hold more than the service takes.
  const { publicKey, typedData, userSignature } = state.payment;
  try {
    const signed = { publicKey, typedData, userSignature };
    return { hash: await sendSignedCalls(client, signed, bearerToken, idempotencyKey) };
  } catch (error) {
    if (error instanceof SvcApiError && REFUSALS.has(error.code)) return { refusal: error };
    throw unclear(state, error);
  }
}

export function unclear(state: PurchaseState, cause: unknown): SvcPurchaseError {
  return new SvcPurchaseError(
    'payment_unclear',
    `Whether the payment was made is not known yet: ${messageOf(cause)} Call purchaseSku with resume: error.state, and do not start anew.`,
    state,
    cause,
  );
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
