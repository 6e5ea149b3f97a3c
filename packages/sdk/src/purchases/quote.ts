import { type ChainToken, formatTokenAmount, parseDecimal, parseUsd, type Sku } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { getConfig } from '../client/config.ts';
import { SvcConnectionError, SvcInputError } from '../client/errors.ts';
import type { SvcWallet } from '../client/input.ts';
import { getUsdAmount } from '../exchanges.ts';
import { signCalls } from '../signing/calls.ts';
import { checkSkuReference, getSku } from '../skus.ts';
import { tokenOf, transferCall } from '../transfers.ts';
import { getTokenBalance } from '../wallets.ts';
import type { PurchaseState } from './state.ts';

interface QuoteAsked {
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

/** The tokens of which one is a dollar. */
const STABLECOINS: ReadonlySet<ChainToken> = new Set(['USDC', 'USDC_E', 'USDT', 'DAI'] as const);

/** Checks everything that can be known before money moves, and what it will cost now. */
async function quotePurchase(client: Client, asked: QuoteAsked, bearerToken?: BearerToken): Promise<Quote> {
  const { skuId, skuReference, token } = asked;
  if (!STABLECOINS.has(token)) refuse(`token must be one of ${[...STABLECOINS].join(', ')}`);
  const sku = await getSku(client, { id: skuId }, bearerToken);
  const currencyAmount = purchaseAmount(sku, asked.currencyAmount);
  requireReference(sku, skuReference);
  if (sku.canCheckSkuReference) {
    const { valid, reason } = await checkSkuReference(client, { id: skuId, reference: skuReference }, bearerToken);
    if (!valid) refuse(`skuReference is not valid: ${reason ?? sku.referenceLabel}`);
  }
  const usd = await getUsdAmount(client, { currencyAmount, currency: sku.currency }, bearerToken);
  if (sku.currency === 'USD' && usd !== currencyAmount) {
    throw new SvcConnectionError('invalid_answer', `The service quotes ${usd} USD for ${currencyAmount} USD.`);
  }
  requireWithin(usd, asked.maxUsdAmount);
  const { decimals } = await tokenOf(client, { token });
  const raw = priceInToken(usd, decimals);
  await requireBalance(client, asked, raw, bearerToken);
  return { currencyAmount, amount: formatTokenAmount(raw, decimals) };
}

function requireWithin(usd: number, maxUsdAmount: string | number | undefined): void {
  if (maxUsdAmount === undefined) return;
  const [price, limit] = [parseUsd(usd), parseUsd(maxUsdAmount)];
  if (!limit.ok) refuse(`maxUsdAmount ${limit.reason}`);
  if (!price.ok || price.value > limit.value) refuse(`The price is ${usd} USD, more than maxUsdAmount`);
}

/** Wallets of earlier classes skip a transfer that they cannot make, and the transaction looks like a success. */
async function requireBalance(
  client: Client,
  { walletAddress, token }: QuoteAsked,
  price: bigint,
  bearerToken: BearerToken | undefined,
): Promise<void> {
  const asked = { chain: 'STARKNET', chainToken: token, walletPublicKey: walletAddress } as const;
  const { balance, decimals } = await getTokenBalance(client, asked, bearerToken);
  if (BigInt(balance) >= price) return;
  const [has, needs] = [BigInt(balance), price].map((raw) => formatTokenAmount(raw, decimals));
  refuse(`The wallet has ${has} ${token}, and the price is ${needs}`);
}

function refuse(reason: string): never {
  throw new SvcInputError('invalid_input', `${reason}. Nothing was paid.`);
}

/** Pesos and dollars have hundredths; what is finer the service refuses, and would refuseOrder it after the payment. */
const MONEY_DECIMALS = 2;
/** The most of a currency that the service converts at once. */
const MAX_AMOUNT = 100_000_000_000n;
/** The longest reference that the service reads. */
const MAX_REFERENCE_LENGTH = 128;

/** The amount to buy for, in the service's currency: what is fixed, or what was asked for. */
function purchaseAmount(sku: Sku, asked: number | undefined): number {
  const amount = asked ?? sku.fixedAmount;
  if (amount === undefined) refuseOrder(`currencyAmount is required: ${sku.name} has no fixed amount`);
  const cents = parseDecimal(String(amount), MONEY_DECIMALS);
  if (!cents.ok) refuseOrder(`currencyAmount ${cents.reason}`);
  if (cents.value === 0n || cents.value > MAX_AMOUNT)
    refuseOrder('currencyAmount must be above 0 and at most a billion');
  if (sku.fixedAmount !== undefined && amount !== sku.fixedAmount) {
    refuseOrder(`currencyAmount must be ${sku.fixedAmount}, the fixed amount of ${sku.name}`);
  }
  const isFit = fits(sku.amountRegexValidation, String(amount));
  if (isFit === false) refuseOrder(`currencyAmount is not one that ${sku.name} accepts: ${sku.amountLabel}`);
  if (isFit === undefined && sku.fixedAmount === undefined) {
    refuseOrder(`currencyAmount cannot be checked before paying: ${sku.amountLabel}`);
  }
  return amount;
}

/** The service reads the reference after the payment, so a wrong one must be found before it. */
function requireReference(sku: Sku, reference: string): void {
  const isFit = reference.length <= MAX_REFERENCE_LENGTH ? fits(sku.referenceRegexValidation, reference) : false;
  // Where this pattern cannot be read here, the service's own check has to say it, or nobody does.
  if (isFit || (isFit === undefined && sku.canCheckSkuReference)) return;
  const reason = isFit === undefined ? 'cannot be checked before paying' : `does not fit ${sku.name}`;
  refuseOrder(`skuReference ${reason}: ${sku.referenceLabel}`);
}

/** Undefined for a pattern in a dialect that JavaScript does not read. */
function fits(pattern: string, text: string): boolean | undefined {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return undefined;
  }
}

function refuseOrder(reason: string): never {
  throw new SvcInputError('invalid_input', `${reason}. Nothing was paid.`);
}

/** More than any quote has, so that nothing is lost before the rounding. */
const QUOTE_DECIMALS = 18;

/** A price in dollars in a stablecoin's smallest units, rounded up: a payment below the price buys nothing. */
export function priceInToken(usd: number, decimals: number): bigint {
  const price = parseDecimal(String(usd), QUOTE_DECIMALS);
  if (!price.ok || price.value === 0n) {
    throw new SvcConnectionError('invalid_answer', `The service quotes ${usd} USD, which is no price.`);
  }
  const whole = 10n ** BigInt(QUOTE_DECIMALS);
  return (price.value * 10n ** BigInt(decimals) + whole - 1n) / whole;
}

export interface PaymentAsked {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  readonly skuId: string;
  readonly skuReference: string;
  readonly currencyAmount?: number | undefined;
  readonly maxUsdAmount?: string | number | undefined;
  readonly token: ChainToken;
}

/** Quotes the purchase and signs its payment. Nothing moves until the payment is sent. */
export async function signPayment(
  client: Client,
  asked: PaymentAsked,
  bearerToken?: BearerToken,
): Promise<PurchaseState> {
  const { encryptKey, wallet, skuId, skuReference, token } = asked;
  const walletAddress = wallet.publicKey;
  const { currencyAmount, amount } = await quotePurchase(client, { ...asked, walletAddress }, bearerToken);
  const { paymentAddress: recipient } = await getConfig(client);
  const calls = [await transferCall(client, { amount, token, recipient })];
  return {
    version: 1,
    purchase: { walletAddress, skuId, skuReference, currencyAmount, chain: 'STARKNET', token },
    amount,
    payment: await signCalls(client, { wallet, encryptKey, calls }, bearerToken),
  };
}
