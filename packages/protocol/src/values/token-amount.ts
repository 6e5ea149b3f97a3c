import { formatDecimal, parseDecimal } from './decimal.ts';
import { type Parsed, unparsed } from './parsed.ts';

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
