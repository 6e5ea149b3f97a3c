import { parseDecimal } from '@svc/protocol';
import { SvcConnectionError } from '../client/errors.ts';

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
