import { type Parsed, parsed, unparsed } from '@svc/protocol/values';

export const PRIME = 2n ** 251n + 17n * 2n ** 192n + 1n;
/** Cairo's bound for contract addresses and class hashes. */
export const ADDRESS_BOUND = 2n ** 251n;
const SHORT_STRING_LENGTH = 31;

export function isFelt(value: bigint): boolean {
  return value >= 0n && value < PRIME;
}

/** Without leading zeros, as nodes write felts. */
export function toHex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

export function parseFelt(text: string): Parsed<bigint> {
  // Bounds the length before the conversion.
  if (!/^(?:0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/.test(text)) return unparsed('must be a hexadecimal or decimal integer');
  const value = BigInt(text);
  return isFelt(value) ? parsed(value) : unparsed('is too large for a felt');
}

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

/** Bytes that are not ASCII appear as Latin-1, so any felt can be shown. */
export function readShortString(value: bigint): string {
  if (!isFelt(value)) throw new RangeError('A short string is a felt');
  const digits = value === 0n ? '' : value.toString(16);
  const padded = digits.length % 2 === 0 ? digits : `0${digits}`;
  return padded.replace(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16)));
}

const FELT_LIST = /^\["0x[0-9a-f]{1,64}"(?:, ?"0x[0-9a-f]{1,64}")*\]$/i;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** A panic that a node writes as a JSON list of felts, with the words that they spell; any other text as it is. */
export function spellPanic(text: string): string {
  if (!FELT_LIST.test(text)) return text;
  const felts = (JSON.parse(text) as string[]).map(BigInt).filter(isFelt);
  return felts
    .map((felt) => toHex(felt) + (PRINTABLE.test(readShortString(felt)) ? ` ('${readShortString(felt)}')` : ''))
    .join(', ');
}
