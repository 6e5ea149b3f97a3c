import { type Parsed, parsed, unparsed } from '@svc/protocol';

/** The field of Starknet: every value of a transaction, a call or a storage cell is an integer below this prime. */
export const PRIME = 2n ** 251n + 17n * 2n ** 192n + 1n;
/** Cairo reads a contract address or a class hash only below this bound. */
export const ADDRESS_BOUND = 2n ** 251n;
/** A short string is ASCII in one felt, which holds 31 whole bytes. */
const SHORT_STRING_LENGTH = 31;

export function isFelt(value: bigint): boolean {
  return value >= 0n && value < PRIME;
}

/** `0x` and lowercase digits without leading zeros, as nodes spell felts. */
export function toHex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/** Reads a hexadecimal (`0x…`, padded or not) or decimal felt. */
export function parseFelt(text: string): Parsed<bigint> {
  // Length first: the digits of 2^256 in either base, so that no caller can order a huge conversion.
  if (!/^(?:0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/.test(text)) return unparsed('must be a hexadecimal or decimal integer');
  const value = BigInt(text);
  return isFelt(value) ? parsed(value) : unparsed('is too large for a felt');
}

/** The felt that Cairo makes of a quoted short string. */
export function shortString(text: string): bigint {
  if (text.length > SHORT_STRING_LENGTH) throw new RangeError('A short string has at most 31 characters');
  let value = 0n;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code > 0x7f) throw new RangeError('A short string is ASCII');
    value = (value << 8n) | BigInt(code);
  }
  return value;
}

/** The text of a short string; bytes that are not ASCII appear as they are in Latin-1, so any felt can be shown. */
export function readShortString(value: bigint): string {
  if (!isFelt(value)) throw new RangeError('A short string is a felt');
  const digits = value === 0n ? '' : value.toString(16);
  const padded = digits.length % 2 === 0 ? digits : `0${digits}`;
  return padded.replace(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16)));
}
