import { formatDecimal, parseDecimal } from './decimal.ts';
import type { Parsed } from './parsed.ts';

/** US dollars in millionths: the unit of credits, prices and the ledger. */
export type UsdMicros = bigint;

export const USD_DECIMALS = 6;

/** Reads dollars from text, or from a JSON number by its shortest printed form (so `0.1` is exactly 100000). */
export function parseUsd(amount: string | number): Parsed<UsdMicros> {
  return parseDecimal(String(amount), USD_DECIMALS);
}

export function formatUsd(micros: UsdMicros): string {
  return formatDecimal(micros, USD_DECIMALS);
}

/** For the fields that the interface declares as JSON numbers. Exact up to four billion dollars. */
export function usdToNumber(micros: UsdMicros): number {
  return Number(formatUsd(micros));
}
