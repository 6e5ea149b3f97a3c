import { formatDecimal, parseDecimal } from './decimal.ts';
import type { Parsed } from './parsed.ts';

/** US dollars in millionths. */
export type UsdMicros = bigint;

export const USD_DECIMALS = 6;

/** A JSON number is read by its shortest decimal form, so `0.1` is exactly 100000. */
export function parseUsd(amount: string | number): Parsed<UsdMicros> {
  return parseDecimal(String(amount), USD_DECIMALS);
}

export function formatUsd(micros: UsdMicros): string {
  return formatDecimal(micros, USD_DECIMALS);
}

/** For fields that are JSON numbers. Exact up to four billion dollars. */
export function usdToNumber(micros: UsdMicros): number {
  return Number(formatUsd(micros));
}
