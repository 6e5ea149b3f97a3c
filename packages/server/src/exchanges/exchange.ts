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
import type { OutboundErrorKind } from '../outbound/address-guard.ts';

export interface CurrencyAmount {
  readonly amount: string | number;
  readonly currency: Currency;
  readonly environment: Environment;
}

export interface Exchange {
  /** Throws `invalid_request` and `rate_unavailable`. */
  usdAmount(amount: CurrencyAmount): Promise<UsdMicros>;
  ratesOfLast(minutes: number, environment: Environment): Promise<readonly RateInForce[]>;
  mxnPerUsd(environment: Environment): Promise<MxnPerUsd>;
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
    mxnPerUsd: async (environment) => (await rates[environment].current()).mxnPerUsd,
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

export const DEFAULT_DEVELOPMENT_RATE = '18.50';

export function fixedRates(mxnPerUsd: string = DEFAULT_DEVELOPMENT_RATE): Rates {
  const rate = parseRate(mxnPerUsd);
  if (!rate.ok || rate.value === 0n) throw new TypeError(`The fixed rate is not a decimal above 0: ${mxnPerUsd}`);
  const inForce: RateInForce = { mxnPerUsd: rate.value, source: 'fixed' };
  return { current: async () => inForce, ofLast: async () => [inForce] };
}

/** Pesos per dollar, scaled by 10^`RATE_DECIMALS`. */
export type MxnPerUsd = bigint;

/** Millionths of a peso. */
export type MxnMicros = bigint;

/** A double from 1 to 1000 prints at most 16 decimals. */
export const RATE_DECIMALS = 18;

const ONE = 10n ** BigInt(RATE_DECIMALS);

// 3 to 26 since 1993. A rate far outside is an error or another pair.
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

export function crossRate(mxnPerEuro: bigint, usdPerEuro: bigint): MxnPerUsd {
  return divideRounded(mxnPerEuro * ONE, usdPerEuro);
}

export function mxnToUsd(amount: MxnMicros, rate: MxnPerUsd): UsdMicros {
  return divideRounded(amount * ONE, rate);
}

/** In hundredths of a peso, to show. */
export function usdToCentavos(amount: UsdMicros, rate: MxnPerUsd): bigint {
  return divideRounded(amount * rate, ONE * 10_000n);
}

// Half away from zero, as `round(numeric)` in SQL. Amounts are never negative here.
function divideRounded(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

export interface RateInForce {
  readonly mxnPerUsd: MxnPerUsd;
  readonly source: string;
}

export interface Rates {
  current(): Promise<RateInForce>;
  /** Newest first, the current one included. */
  ofLast(minutes: number): Promise<readonly RateInForce[]>;
}

export interface Rate {
  readonly mxnPerUsd: MxnPerUsd;
  /** YYYY-MM-DD. */
  readonly observedOn?: string;
}

export interface RateSource {
  readonly name: string;
  mxnPerUsd(signal?: AbortSignal): Promise<Rate>;
}

export type RateFailureKind =
  | OutboundErrorKind
  | 'status'
  | 'unreadable'
  | 'no_rate'
  | 'implausible'
  | 'outdated'
  | 'unexpected';

/** Its message is logged, so it never contains a URL, a header or the answer. */
export class RateSourceError extends Error {
  readonly kind: RateFailureKind;

  constructor(kind: RateFailureKind, message: string) {
    super(message);
    this.name = 'RateSourceError';
    this.kind = kind;
  }
}

const DAY_MS = 86_400_000;

export function calendarDay(year: string, month: string, day: string): string | undefined {
  const text = `${year}-${month}-${day}`;
  const start = Date.parse(`${text}T00:00:00Z`);
  // Some engines roll February 31 over into March.
  return Number.isNaN(start) || new Date(start).toISOString().slice(0, 10) !== text ? undefined : text;
}

export function parseIsoDay(text: string): string | undefined {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  return calendarDay(year, month, day);
}

export function daysSince(day: string, now: number): number {
  return Math.floor((now - Date.parse(`${day}T00:00:00Z`)) / DAY_MS);
}
