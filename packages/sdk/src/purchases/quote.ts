import { type ChainToken, formatTokenAmount, parseDecimal, parseUsd, type Sku } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { getConfig } from '../client/config.ts';
import { SvcConnectionError, SvcInputError } from '../client/errors.ts';
import { requireTrustedPayment } from '../client/trust.ts';
import { readAddress, type SvcWallet } from '../client/values.ts';
import { getUsdAmount } from '../exchanges.ts';
import { signCalls } from '../signing/calls.ts';
import { checkSkuReference, getSku } from '../skus.ts';
import { tokenOf, transferCall } from '../transfers.ts';
import { getTokenBalance } from '../wallets.ts';
import type { PurchaseState } from './state.ts';

interface QuoteRequest {
  readonly walletAddress: string;
  readonly skuId: string;
  readonly skuReference: string;
  readonly currencyAmount?: number | undefined;
  readonly maxUsdAmount?: string | number | undefined;
  readonly token: ChainToken;
}

interface Quote {
  readonly currencyAmount: number;
  /** In whole tokens. */
  readonly amount: string;
}

const STABLECOINS: ReadonlySet<ChainToken> = new Set(['USDC', 'USDC_E', 'USDT', 'DAI'] as const);

/** Checks everything that can be known before money moves, and the current price. */
async function quotePurchase(client: Client, order: QuoteRequest, bearerToken?: BearerToken): Promise<Quote> {
  const { skuId, skuReference, token } = order;
  if (!STABLECOINS.has(token)) refuse(`token must be one of ${[...STABLECOINS].join(', ')}`);
  const sku = await getSku(client, { id: skuId }, bearerToken);
  const currencyAmount = purchaseAmount(sku, order.currencyAmount);
  requireReference(sku, skuReference);
  if (sku.canCheckSkuReference) {
    const { valid, reason } = await checkSkuReference(client, { id: skuId, reference: skuReference }, bearerToken);
    if (!valid) refuse(`skuReference is not valid: ${reason ?? sku.referenceLabel}`);
  }
  const usd = await getUsdAmount(client, { currencyAmount, currency: sku.currency }, bearerToken);
  if (sku.currency === 'USD' && usd !== currencyAmount) {
    throw new SvcConnectionError('invalid_answer', `The service quotes ${usd} USD for ${currencyAmount} USD.`);
  }
  requireWithin(usd, order.maxUsdAmount);
  const { decimals } = await tokenOf(client, { token });
  const raw = priceInToken(usd, decimals);
  await requireBalance(client, order, raw, bearerToken);
  return { currencyAmount, amount: formatTokenAmount(raw, decimals) };
}

function requireWithin(usd: number, maxUsdAmount: string | number | undefined): void {
  if (maxUsdAmount === undefined) return;
  const [price, limit] = [parseUsd(usd), parseUsd(maxUsdAmount)];
  if (!limit.ok) refuse(`maxUsdAmount ${limit.reason}`);
  if (!price.ok || price.value > limit.value) refuse(`The price is ${usd} USD, more than maxUsdAmount`);
}

/** Wallets of earlier classes skip a transfer that fails, and the transaction still succeeds. */
async function requireBalance(
  client: Client,
  { walletAddress, token }: QuoteRequest,
  price: bigint,
  bearerToken: BearerToken | undefined,
): Promise<void> {
  const params = { chain: 'STARKNET', chainToken: token, walletPublicKey: walletAddress } as const;
  const { balance, decimals } = await getTokenBalance(client, params, bearerToken);
  if (BigInt(balance) >= price) return;
  const [has, needs] = [BigInt(balance), price].map((raw) => formatTokenAmount(raw, decimals));
  refuse(`The wallet has ${has} ${token}, and the price is ${needs}`);
}

function refuse(reason: string): never {
  throw new SvcInputError('invalid_input', `${reason}. Nothing was paid.`);
}

/** The service rejects finer amounts, after the payment. */
const MONEY_DECIMALS = 2;
/** The service's limit for conversions, in hundredths. */
const MAX_AMOUNT = 100_000_000_000n;
const MAX_REFERENCE_LENGTH = 128;

/** The fixed or requested amount, in the SKU's currency. */
function purchaseAmount(sku: Sku, requested: number | undefined): number {
  const amount = requested ?? sku.fixedAmount;
  if (amount === undefined) refuse(`currencyAmount is required: ${sku.name} has no fixed amount`);
  const cents = parseDecimal(String(amount), MONEY_DECIMALS);
  if (!cents.ok) refuse(`currencyAmount ${cents.reason}`);
  if (cents.value === 0n || cents.value > MAX_AMOUNT) refuse('currencyAmount must be above 0 and at most a billion');
  if (sku.fixedAmount !== undefined && amount !== sku.fixedAmount) {
    refuse(`currencyAmount must be ${sku.fixedAmount}, the fixed amount of ${sku.name}`);
  }
  const isMatch = matchesPattern(sku.amountRegexValidation, String(amount));
  if (isMatch === false) refuse(`currencyAmount is not one that ${sku.name} accepts: ${sku.amountLabel}`);
  if (isMatch === undefined && sku.fixedAmount === undefined) {
    refuse(`currencyAmount cannot be checked before paying: ${sku.amountLabel}`);
  }
  return amount;
}

/** The service checks the reference after the payment, so a wrong one must be found before. */
function requireReference(sku: Sku, reference: string): void {
  const isMatch =
    reference.length <= MAX_REFERENCE_LENGTH ? matchesPattern(sku.referenceRegexValidation, reference) : false;
  // If the pattern cannot be evaluated here, the provider's check decides; without one the purchase is refused.
  if (isMatch || (isMatch === undefined && sku.canCheckSkuReference)) return;
  const reason = isMatch === undefined ? 'cannot be checked before paying' : `does not fit ${sku.name}`;
  refuse(`skuReference ${reason}: ${sku.referenceLabel}`);
}

/** Undefined for a pattern that JavaScript cannot parse. */
function matchesPattern(pattern: string, text: string): boolean | undefined {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return undefined;
  }
}

/** More than any quote has: nothing is lost before rounding. */
const QUOTE_DECIMALS = 18;

/** USD price in the token's smallest units, rounded up: a payment below the price buys nothing. */
export function priceInToken(usd: number, decimals: number): bigint {
  const price = parseDecimal(String(usd), QUOTE_DECIMALS);
  if (!price.ok || price.value === 0n) {
    throw new SvcConnectionError('invalid_answer', `The service quotes ${usd} USD, which is no price.`);
  }
  const whole = 10n ** BigInt(QUOTE_DECIMALS);
  return (price.value * 10n ** BigInt(decimals) + whole - 1n) / whole;
}

export interface PaymentRequest {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  readonly skuId: string;
  readonly skuReference: string;
  readonly currencyAmount?: number | undefined;
  readonly maxUsdAmount?: string | number | undefined;
  readonly token: ChainToken;
}

/** Quotes the purchase and signs its payment. Nothing moves until it is sent. */
export async function signPayment(
  client: Client,
  order: PaymentRequest,
  bearerToken?: BearerToken,
): Promise<PurchaseState> {
  const { encryptKey, wallet, skuId, skuReference, token } = order;
  const walletAddress = wallet.publicKey;
  const { currencyAmount, amount } = await quotePurchase(client, { ...order, walletAddress }, bearerToken);
  const { paymentAddress: recipient } = await getConfig(client);
  requireTrustedPayment(client.trust, readAddress(recipient, 'paymentAddress'));
  const calls = [await transferCall(client, { amount, token, recipient })];
  return {
    version: 1,
    purchase: { walletAddress, skuId, skuReference, currencyAmount, chain: 'STARKNET', token },
    amount,
    payment: await signCalls(client, { wallet, encryptKey, calls }, bearerToken),
  };
}
