import { parseRate } from './rate.ts';
import type { RateInForce, Rates } from './rates.ts';

/** Near the real one, and easy on the eyes: 185 pesos are 10 dollars. */
export const DEFAULT_DEVELOPMENT_RATE = '18.50';

/** One rate for ever, so that development needs no network and its prices can be foretold. */
export function fixedRates(mxnPerUsd: string = DEFAULT_DEVELOPMENT_RATE): Rates {
  const rate = parseRate(mxnPerUsd);
  if (!rate.ok || rate.value === 0n) throw new TypeError(`The fixed rate is not a decimal above 0: ${mxnPerUsd}`);
  const inForce: RateInForce = { mxnPerUsd: rate.value, source: 'fixed' };
  return { current: async () => inForce, ofLast: async () => [inForce] };
}
