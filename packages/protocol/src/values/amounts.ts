import { type Parsed, parsed, unparsed } from './parsed.ts';

/** Longer than any 256-bit amount with 18 decimals; bounds the cost of BigInt(). */
const MAX_LENGTH = 98;

/**
 * Reads a plain decimal (`12`, `0.5`) into an integer of `decimals` fractional digits, exactly.
 * Signs, exponents, blanks, separators and digits beyond `decimals` are refused, never rounded.
 *
 * @example parseDecimal('1.25', 6) // { ok: true, value: 1250000n }
 */
export function parseDecimal(text: string, decimals: number): Parsed<bigint> {
  if (text.length > MAX_LENGTH) return unparsed(`must have at most ${MAX_LENGTH} characters`);
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (!match) return unparsed('must be a plain decimal number such as 12 or 0.5');
  const [, whole = '', fraction = ''] = match;
  if (fraction.length > decimals) return unparsed(`must have at most ${decimals} decimals`);
  return parsed(BigInt(whole + fraction.padEnd(decimals, '0')));
}

/**
 * Prints an integer of `decimals` fractional digits as a plain decimal without trailing zeros.
 *
 * @example formatDecimal(1250000n, 6) // '1.25'
 */
export function formatDecimal(raw: bigint, decimals: number): string {
  const digits = (raw < 0n ? -raw : raw).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${raw < 0n ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`;
}

/** Unsigned 256-bit integer. */
const MAX_RAW = 2n ** 256n - 1n;

/**
 * Reads a human amount of a token (`"0.5"`) into its raw units.
 *
 * @example parseTokenAmount('0.5', 6) // { ok: true, value: 500000n }
 */
export function parseTokenAmount(text: string, decimals: number): Parsed<bigint> {
  const amount = parseDecimal(text, decimals);
  if (amount.ok && amount.value > MAX_RAW) return unparsed('must fit an unsigned integer of 256 bits');
  return amount;
}

export function formatTokenAmount(raw: bigint, decimals: number): string {
  return formatDecimal(raw, decimals);
}

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
  return Number(micros) / 10 ** USD_DECIMALS;
}
