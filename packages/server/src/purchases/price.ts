import {
  ApiError,
  type Currency,
  type Environment,
  formatTokenAmount,
  formatUsd,
  USD_DECIMALS,
  type UsdMicros,
} from '@svc/protocol';
import type { Token } from '../chains/tokens.ts';
import { mxnToUsd } from '../exchanges/rate.ts';
import type { Exchange } from '../exchanges/service.ts';

/** Whoever was told a price has this long to pay it and to record the purchase. */
export const PRICE_WINDOW_MINUTES = 10;
/** How much of the price has to be paid, in hundredths: amounts are rounded on the way from a price to a transfer. */
const ENOUGH_PERCENT = 99n;

/** The lowest price in dollars of the last minutes before now. */
export async function lowestPrice(
  exchange: Pick<Exchange, 'ratesOfLast'>,
  { micros, currency, environment }: { micros: bigint; currency: Currency; environment: Environment },
): Promise<UsdMicros> {
  if (currency === 'USD') return micros;
  const rates = await exchange.ratesOfLast(PRICE_WINDOW_MINUTES, environment);
  const prices = rates.map(({ mxnPerUsd }) => mxnToUsd(micros, mxnPerUsd));
  const [first, ...others] = prices;
  if (first === undefined) throw new ApiError('rate_unavailable');
  return others.reduce((lowest, price) => (price < lowest ? price : lowest), first);
}

/** Throws `payment_too_small`. A token is a dollar; the comparison is exact, in whatever unit the token counts. */
export function requireEnough(
  paid: bigint,
  { token, decimals }: Pick<Token, 'token' | 'decimals'>,
  price: UsdMicros,
): void {
  const [tokenUnit, dollarUnit] = [10n ** BigInt(decimals), 10n ** BigInt(USD_DECIMALS)];
  if (paid * dollarUnit * 100n >= price * ENOUGH_PERCENT * tokenUnit) return;
  const needed = formatUsd((price * ENOUGH_PERCENT + 99n) / 100n);
  throw new ApiError(
    'payment_too_small',
    `The payment is ${formatTokenAmount(paid, decimals)} ${token}, and ${needed} are needed: ` +
      `${ENOUGH_PERCENT} % of ${formatUsd(price)} USD, the lowest price of the last ${PRICE_WINDOW_MINUTES} minutes.`,
  );
}
