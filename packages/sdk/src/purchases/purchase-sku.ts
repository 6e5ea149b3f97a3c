import type { Chain, ChainToken, Transaction } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcApiError, SvcInputError } from '../client/errors.ts';
import type { SvcWallet } from '../client/values.ts';
import { getTransactionStatus } from '../transactions.ts';
import { messageOf, pay, provePayment, requireFound, unclear } from './pay.ts';
import { createSkuPurchase } from './purchases.ts';
import { signPayment } from './quote.ts';
import {
  executionOf,
  type PaidState,
  type PurchaseContext,
  type PurchaseState,
  readPurchaseState,
  SvcPurchaseError,
} from './state.ts';

export interface PurchaseSkuParams {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  readonly skuId: string;
  /** For example a phone or account number. */
  readonly skuReference: string;
  /** In the SKU's currency. Required if it has no fixed amount; otherwise it must be that amount. */
  readonly currencyAmount?: number | undefined;
  /** Upper bound of the price in USD. Default: none. */
  readonly maxUsdAmount?: string | number | undefined;
  /** Default: `STARKNET`, the only chain that wallets pay on. */
  readonly chain?: Chain | undefined;
  /** A stablecoin: `USDC` (default), `USDC_E`, `USDT` or `DAI`. */
  readonly token?: ChainToken | undefined;
  /** Store the state, replacing the last one: it is awaited before money moves. If it throws, the purchase stops. */
  readonly onProgress?: ((state: PurchaseState) => void | Promise<void>) | undefined;
  /** The last state from `onProgress` or from a `SvcPurchaseError`. Only one call at a time may use it. */
  readonly resume?: PurchaseState | undefined;
}

/**
 * Buys a SKU: reads its price, pays it from the user's wallet and records the purchase. The service pays the gas.
 * `waitForPurchase` waits for the result.
 *
 * After a crash call it again with `resume` and the last stored state: it continues there and never pays twice. It
 * signs a new payment only if the chain proves that the first one was not made and cannot be made any more.
 *
 * @throws SvcPurchaseError if it stopped after the payment was signed; it has the state to resume with
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
  const context: PurchaseContext = { client, bearerToken, resumed: resume !== undefined, save };
  if (resume !== undefined) {
    const state = readPurchaseState(resume, { ...params, walletAddress: params.wallet.publicKey, token });
    const purchase = await completePurchase(context, state);
    if (purchase) return purchase;
    // The app must store the new payment before it is sent: resuming the old state would pay again.
    if (!onProgress) throw neverMade(state);
  }
  const state = await signPayment(client, { ...params, token }, bearerToken);
  await save(state);
  const purchase = await completePurchase({ ...context, resumed: false }, state);
  if (purchase) return purchase;
  throw unclear(state, new Error('The window of a new payment is over already.'));
}

function neverMade(state: PurchaseState): SvcPurchaseError {
  const message =
    'The payment was not made and never will be. Forget the state and start anew, or pass onProgress as well.';
  return new SvcPurchaseError('payment_failed', message, state);
}

/** Pays, if not done yet, and records. Undefined: this payment was not made and never will be. */
async function completePurchase(context: PurchaseContext, state: PurchaseState): Promise<Transaction | undefined> {
  const hash = state.transactionHash ?? (await pay(context, state));
  if (hash === undefined) return undefined;
  const recorded = await recordPurchase(context, await saved(context, state, hash));
  return 'purchase' in recorded ? recorded.purchase : afterRevert(context, recorded.reverted);
}

/** Nothing was paid, but until the window closes anyone with the signed payment can submit it again. */
async function afterRevert(context: PurchaseContext, state: PaidState): Promise<Transaction | undefined> {
  const proof = await provePayment(context, state);
  if (proof === 'impossible') return undefined;
  if (proof === 'unknown') throw unclear(state, new Error('The wallet does not tell what it has executed.'));
  if (proof === 'possible') throw failed(state);
  const recorded = await recordPurchase(context, await saved(context, state, await requireFound(context, state)));
  if ('purchase' in recorded) return recorded.purchase;
  throw unclear(recorded.reverted, new Error('The wallet and the service disagree.'));
}

async function saved(context: PurchaseContext, state: PurchaseState, transactionHash: string): Promise<PaidState> {
  const paid = { ...state, transactionHash };
  if (state.transactionHash !== transactionHash) await context.save(paid);
  return paid;
}

function failed(state: PaidState): SvcPurchaseError {
  const until = new Date(Number(executionOf(state).executeBefore) * 1_000).toISOString();
  const message = `The payment was reverted on the chain and nothing was paid. It cannot be repeated safely before its window is over: a quarter of an hour after ${until}, call purchaseSku with resume: error.state.`;
  return new SvcPurchaseError('payment_failed', message, state);
}

type Recorded = { readonly purchase: Transaction } | { readonly reverted: PaidState };

/** A transaction is visible within seconds, after a fee bump within a minute. */
const MAX_WAIT_MS = 120_000;
const RETRY_INTERVAL_MS = 3_000;

/** Records the purchase; retries until the service sees the payment. */
async function recordPurchase(context: PurchaseContext, state: PaidState): Promise<Recorded> {
  const { runtime } = context.client;
  const deadline = runtime.now() + MAX_WAIT_MS;
  for (let paid = state; ; ) {
    try {
      return { purchase: await record(context, paid) };
    } catch (error) {
      const code = error instanceof SvcApiError && error.status < 500 ? error.code : undefined;
      if (code === 'transaction_reverted') return { reverted: paid };
      if (code !== 'transaction_not_found') throw stopped(paid, error);
      const current = await currentHash(context, paid);
      if (current === 'reverted') return { reverted: paid };
      if (BigInt(current) !== BigInt(paid.transactionHash)) {
        paid = { ...paid, transactionHash: current };
        await context.save(paid);
      }
      if (runtime.now() >= deadline) throw stopped(paid, error);
      await runtime.sleep(RETRY_INTERVAL_MS);
    }
  }
}

async function record({ client, bearerToken, resumed }: PurchaseContext, state: PaidState): Promise<Transaction> {
  const { purchase, transactionHash } = state;
  const body = { ...purchase, transactionHash };
  try {
    return await createSkuPurchase(client, { ...body, idempotencyKey: `sku-purchase-${transactionHash}` }, bearerToken);
  } catch (error) {
    // A refusal is stored with its key for a day, and its cause may be gone.
    if (!(resumed && isRefusal(error))) throw error;
    return createSkuPurchase(client, body, bearerToken);
  }
}

/** The current transaction: a fee bump changes the hash. */
async function currentHash({ client, bearerToken }: PurchaseContext, state: PaidState): Promise<string | 'reverted'> {
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
