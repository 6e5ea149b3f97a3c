import type { Chain, ChainToken, Transaction } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { completePurchase } from './complete-purchase.ts';
import { SvcPurchaseError } from './purchase-error.ts';
import type { PurchaseRun } from './purchase-run.ts';
import { type PurchaseState, readPurchaseState } from './purchase-state.ts';
import { unclear } from './send-payment.ts';
import { signPayment } from './sign-payment.ts';

export interface PurchaseSkuParams {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  readonly skuId: string;
  /** Such as a phone or account number. */
  readonly skuReference: string;
  /** In the service's currency. Required where it has no fixed amount; where it has one, that one. */
  readonly currencyAmount?: number | undefined;
  /** The most that you will pay, in USD. Default: what the service asks. */
  readonly maxUsdAmount?: string | number | undefined;
  /** Wallets pay on `STARKNET`, the default. */
  readonly chain?: Chain | undefined;
  /** A dollar: `USDC`, the default, `USDC_E`, `USDT` or `DAI`. */
  readonly token?: ChainToken | undefined;
  /** Store what it is given, in place of what it was given before: it is awaited before money moves. What it throws stops the purchase. */
  readonly onProgress?: ((state: PurchaseState) => void | Promise<void>) | undefined;
  /** What `onProgress` was given last, or a `SvcPurchaseError` carries. One call at a time may go on with it. */
  readonly resume?: PurchaseState | undefined;
}

/**
 * Buys a service: reads its price, pays it from the user's wallet without gas, and records the purchase, which `waitForPurchase` follows to
 * its end.
 *
 * After a crash call it again with `resume` and the last stored state: it finds out how far it was and never pays twice. It pays anew
 * only when the chain proves that the first payment was not made and cannot be any more.
 *
 * @throws SvcPurchaseError when it stopped after the payment was signed; it carries the state to resume with
 * @example
 * const purchase = await svc.purchaseSku({
 *   encryptKey,
 *   wallet,
 *   skuId: 'telcel-recarga-100',
 *   skuReference: '5512345678',
 *   onProgress: (state) => storage.setItem('purchase', JSON.stringify(state)),
 * });
 */
export async function purchaseSku(
  client: Client,
  params: PurchaseSkuParams,
  bearerToken?: BearerToken,
): Promise<Transaction> {
  const { chain = 'STARKNET', token = 'USDC', onProgress, resume } = params;
  if (chain !== 'STARKNET') throw new SvcInputError('invalid_input', 'chain must be STARKNET: wallets pay there.');
  const save = async (state: PurchaseState) => onProgress?.(state);
  const run: PurchaseRun = { client, bearerToken, resumed: resume !== undefined, save };
  if (resume !== undefined) {
    const state = readPurchaseState(resume, { ...params, walletAddress: params.wallet.publicKey, token });
    const purchase = await completePurchase(run, state);
    if (purchase) return purchase;
    // The new payment must be known to the app before it is sent, or the old state would pay a third time.
    if (!onProgress) throw neverMade(state);
  }
  const state = await signPayment(client, { ...params, token }, bearerToken);
  await save(state);
  const purchase = await completePurchase({ ...run, resumed: false }, state);
  if (purchase) return purchase;
  throw unclear(state, new Error('The window of a new payment is over already.'));
}

function neverMade(state: PurchaseState): SvcPurchaseError {
  const message =
    'The payment was not made and never will be. Forget the state and start anew, or pass onProgress as well.';
  return new SvcPurchaseError('payment_failed', message, state);
}
