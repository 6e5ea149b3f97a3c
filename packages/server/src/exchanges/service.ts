import {
  ApiError,
  type Currency,
  type Environment,
  MAX_CURRENCY_AMOUNT,
  parseDecimal,
  USD_DECIMALS,
  type UsdMicros,
} from '@svc/protocol';
import { mxnToUsd } from './rate.ts';
import type { RateInForce, Rates } from './rates.ts';

export interface CurrencyAmount {
  readonly amount: string | number;
  readonly currency: Currency;
  readonly environment: Environment;
}

export interface Exchange {
  /** What the amount is worth now. Throws the `ApiError`s invalid_request and rate_unavailable. */
  usdAmount(asked: CurrencyAmount): Promise<UsdMicros>;
  /** Every MXN rate that was in force within the last minutes, for checking a price that was quoted a while ago. */
  ratesOfLast(minutes: number, environment: Environment): Promise<readonly RateInForce[]>;
}

const MAX_AMOUNT_MICROS = BigInt(MAX_CURRENCY_AMOUNT) * 10n ** BigInt(USD_DECIMALS);

export function createExchange(rates: Readonly<Record<Environment, Rates>>): Exchange {
  return {
    async usdAmount({ amount, currency, environment }) {
      const micros = parseAmount(amount);
      if (currency === 'USD') return micros;
      const { mxnPerUsd } = await rates[environment].current();
      return mxnToUsd(micros, mxnPerUsd);
    },
    ratesOfLast: (minutes, environment) => rates[environment].ofLast(minutes),
  };
}

function parseAmount(amount: string | number): bigint {
  const micros = parseDecimal(String(amount), USD_DECIMALS);
  if (micros.ok && micros.value <= MAX_AMOUNT_MICROS) return micros.value;
  throw new ApiError(
    'invalid_request',
    `currencyAmount must be a plain decimal from 0 to ${MAX_CURRENCY_AMOUNT} with at most ${USD_DECIMALS} decimals.`,
  );
}
