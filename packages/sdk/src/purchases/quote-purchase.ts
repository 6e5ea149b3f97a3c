import { type ChainToken, formatTokenAmount, parseUsd } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcConnectionError, SvcInputError } from '../client/errors.ts';
import { getUsdAmount } from '../exchanges/get-usd-amount.ts';
import { checkSkuReference } from '../skus/check-sku-reference.ts';
import { getSku } from '../skus/get-sku.ts';
import { tokenOf } from '../transfers/token-of.ts';
import { getTokenBalance } from '../wallets/get-token-balance.ts';
import { purchaseAmount, requireReference } from './check-purchase.ts';
import { priceInToken } from './price-in-token.ts';

export interface QuoteAsked {
  readonly walletAddress: string;
  readonly skuId: string;
  readonly skuReference: string;
  readonly currencyAmount?: number | undefined;
  readonly maxUsdAmount?: string | number | undefined;
  readonly token: ChainToken;
}

export interface Quote {
  readonly currencyAmount: number;
  /** In whole tokens. */
  readonly amount: string;
}

/** The tokens of which one is a dollar. */
const STABLECOINS: ReadonlySet<ChainToken> = new Set(['USDC', 'USDC_E', 'USDT', 'DAI'] as const);

/** Checks everything that can be known before money moves, and what it will cost now. */
export async function quotePurchase(client: Client, asked: QuoteAsked, bearerToken?: BearerToken): Promise<Quote> {
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
