import type { Chain, ChainToken, Transaction } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcApiError, SvcInputError } from '../client/errors.ts';
import type { SvcWallet } from '../client/input.ts';
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
  const run: PurchaseContext = { client, bearerToken, resumed: resume !== undefined, save };
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

/** Pays, if that is still to be done, and records. Undefined: it is certain that this payment was not made and never will be. */
async function completePurchase(run: PurchaseContext, state: PurchaseState): Promise<Transaction | undefined> {
  const hash = state.transactionHash ?? (await pay(run, state));
  if (hash === undefined) return undefined;
  const recorded = await recordPurchase(run, await saved(run, state, hash));
  return 'purchase' in recorded ? recorded.purchase : afterRevert(run, recorded.reverted);
}

/** The transaction moved nothing, but until its window is over anyone who has the signed payment can execute it in another one. */
async function afterRevert(run: PurchaseContext, state: PaidState): Promise<Transaction | undefined> {
  const proof = await provePayment(run, state);
  if (proof === 'impossible') return undefined;
  if (proof === 'unknown') throw unclear(state, new Error('The wallet does not tell what it has executed.'));
  if (proof === 'possible') throw failed(state);
  const recorded = await recordPurchase(run, await saved(run, state, await requireFound(run, state)));
  if ('purchase' in recorded) return recorded.purchase;
  throw unclear(recorded.reverted, new Error('The wallet and the service disagree.'));
}

async function saved(run: PurchaseContext, state: PurchaseState, transactionHash: string): Promise<PaidState> {
  const paid = { ...state, transactionHash };
  if (state.transactionHash !== transactionHash) await run.save(paid);
  return paid;
}

function failed(state: PaidState): SvcPurchaseError {
  const until = new Date(Number(executionOf(state).executeBefore) * 1_000).toISOString();
  const message = `The payment was reverted on the chain and nothing was paid. It cannot be repeated safely before its window is over: a quarter of an hour after ${until}, call purchaseSku with resume: error.state.`;
  return new SvcPurchaseError('payment_failed', message, state);
}

/** `reverted`: the transaction moved no money. */
type Recorded = { readonly purchase: Transaction } | { readonly reverted: PaidState };

/** A live chain shows a transaction within seconds, and with a raised fee within a minute. */
const PATIENCE_MS = 120_000;
const RETRY_INTERVAL_MS = 3_000;

/** Tells the service what was bought with the payment, as often as it takes until the service sees the payment. */
async function recordPurchase(run: PurchaseContext, state: PaidState): Promise<Recorded> {
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

async function record({ client, bearerToken, resumed }: PurchaseContext, state: PaidState): Promise<Transaction> {
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
async function look({ client, bearerToken }: PurchaseContext, state: PaidState): Promise<string | 'reverted'> {
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
