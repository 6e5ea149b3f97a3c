import { formatDecimal, type Parsed, parseDecimal, type UsdMicros } from '@svc/protocol';

/** How many pesos a dollar costs, as an integer of `RATE_DECIMALS` fractional digits. */
export type MxnPerUsd = bigint;

/** Pesos in millionths, the same fineness as dollars. */
export type MxnMicros = bigint;

/** More than any source gives: a double from 1 to 1000 prints at most 16 decimals. */
export const RATE_DECIMALS = 18;

const ONE = 10n ** BigInt(RATE_DECIMALS);

// The peso has stood between 3 and 26 a dollar since 1993; an answer far outside is a mistake or another pair.
const MIN_RATE: MxnPerUsd = 1n * ONE;
const MAX_RATE: MxnPerUsd = 1000n * ONE;

export function parseRate(text: string): Parsed<MxnPerUsd> {
  return parseDecimal(text, RATE_DECIMALS);
}

export function formatRate(rate: MxnPerUsd): string {
  return formatDecimal(rate, RATE_DECIMALS);
}

export function isPlausibleRate(rate: MxnPerUsd): boolean {
  return rate >= MIN_RATE && rate <= MAX_RATE;
}

/**
 * Pesos per dollar from what one euro costs in each.
 *
 * @example crossRate(20n * 10n ** 18n, 2n * 10n ** 18n) // 10n * 10n ** 18n
 */
export function crossRate(mxnPerEuro: bigint, usdPerEuro: bigint): MxnPerUsd {
  return divideRounded(mxnPerEuro * ONE, usdPerEuro);
}

/**
 * Pesos to dollars, to the nearest millionth.
 *
 * @example mxnToUsd(100_000_000n, 18_500_000_000_000_000_000n) // 5_405_405n: 100 MXN at 18.5 are 5.405405 USD
 */
export function mxnToUsd(amount: MxnMicros, rate: MxnPerUsd): UsdMicros {
  return divideRounded(amount * ONE, rate);
}

// Half away from zero: what people do on paper and `round(numeric)` in SQL, so an answer can be checked anywhere.
// It is off by half a millionth at most and favours neither side. Amounts are never negative here.
function divideRounded(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}
