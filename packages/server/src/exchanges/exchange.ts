import {
  ApiError,
  type Currency,
  type Environment,
  formatDecimal,
  MAX_CURRENCY_AMOUNT,
  type Parsed,
  parseDecimal,
  USD_DECIMALS,
  type UsdMicros,
} from '@svc/protocol';
import type { OutboundErrorKind } from '../outbound/url.ts';

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

/** Near the real one, and easy on the eyes: 185 pesos are 10 dollars. */
export const DEFAULT_DEVELOPMENT_RATE = '18.50';

/** One rate for ever, so that development needs no network and its prices can be foretold. */
export function fixedRates(mxnPerUsd: string = DEFAULT_DEVELOPMENT_RATE): Rates {
  const rate = parseRate(mxnPerUsd);
  if (!rate.ok || rate.value === 0n) throw new TypeError(`The fixed rate is not a decimal above 0: ${mxnPerUsd}`);
  const inForce: RateInForce = { mxnPerUsd: rate.value, source: 'fixed' };
  return { current: async () => inForce, ofLast: async () => [inForce] };
}

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

export interface RateInForce {
  readonly mxnPerUsd: MxnPerUsd;
  /** The source's name, or `fixed`. */
  readonly source: string;
}

/** Where an environment takes its rate from. Throws the `ApiError` rate_unavailable when there is none. */
export interface Rates {
  current(): Promise<RateInForce>;
  /** Every rate that was in force at some moment of the last minutes, newest first, the current one included. */
  ofLast(minutes: number): Promise<readonly RateInForce[]>;
}

export interface Rate {
  readonly mxnPerUsd: MxnPerUsd;
  /** The day that the source gives for its rate, as YYYY-MM-DD. */
  readonly observedOn?: string;
}

/** Somewhere that the price of a dollar is published. Asking again is always safe: it only reads. */
export interface RateSource {
  readonly name: string;
  /** Throws a `RateSourceError` or an `OutboundError` when there is no answer to be had. */
  mxnPerUsd(signal?: AbortSignal): Promise<Rate>;
}

/**
 * - `status`: another HTTP status than 200, a redirect included
 * - `unreadable`: the answer is not in the form of this source
 * - `no_rate`: the source says that it has none
 * - `implausible`, `outdated`: a rate, but not one to take money by
 * - `unexpected`: a fault of ours
 */
export type RateFailureKind =
  | OutboundErrorKind
  | 'status'
  | 'unreadable'
  | 'no_rate'
  | 'implausible'
  | 'outdated'
  | 'unexpected';

/** Its message goes to the log, so it never repeats an address, a header or the answer. */
export class RateSourceError extends Error {
  readonly kind: RateFailureKind;

  constructor(kind: RateFailureKind, message: string) {
    super(message);
    this.name = 'RateSourceError';
    this.kind = kind;
  }
}

const DAY_MS = 86_400_000;

/** `2026-07-17` if there is such a day, else undefined. */
export function calendarDay(year: string, month: string, day: string): string | undefined {
  const text = `${year}-${month}-${day}`;
  const start = Date.parse(`${text}T00:00:00Z`);
  // Some engines roll the 31st of February over into March.
  return Number.isNaN(start) || new Date(start).toISOString().slice(0, 10) !== text ? undefined : text;
}

/** Reads `2026-07-17`. */
export function parseIsoDay(text: string): string | undefined {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  return calendarDay(year, month, day);
}

/** Whole days from the beginning of `day` in UTC to `now`; negative when the day is still to come. */
export function daysSince(day: string, now: number): number {
  return Math.floor((now - Date.parse(`${day}T00:00:00Z`)) / DAY_MS);
}
