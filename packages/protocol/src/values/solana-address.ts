import { type Parsed, parsed, unparsed } from './parsed.ts';

declare const brand: unique symbol;
/** Base58. The encoding of 32 bytes is unique, so equal values are equal strings. */
export type SolanaAddress = string & { readonly [brand]: 'SolanaAddress' };

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BYTES = 32;

export function parseSolanaAddress(text: string): Parsed<SolanaAddress> {
  // 32 bytes have 32 to 44 characters.
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return unparsed('must be a base58 address of 32 to 44 characters');
  const bytes = decodeBase58(text);
  if (bytes.length !== BYTES) return unparsed('must be a base58 address of 32 bytes');
  if (bytes.every((byte) => byte === 0)) return unparsed('must not be the zero address');
  return parsed(text as SolanaAddress);
}

export function solanaAddressBytes(address: SolanaAddress): Uint8Array {
  return decodeBase58(address);
}

function decodeBase58(text: string): Uint8Array {
  let value = 0n;
  for (const character of text) value = value * 58n + BigInt(ALPHABET.indexOf(character));
  const leadingZeros = /^1*/.exec(text)?.[0].length ?? 0;
  const hex = value === 0n ? '' : value.toString(16);
  const even = hex.length % 2 ? `0${hex}` : hex;
  const tail = Array.from({ length: even.length / 2 }, (_, i) => Number.parseInt(even.slice(i * 2, i * 2 + 2), 16));
  return Uint8Array.from([...new Array<number>(leadingZeros).fill(0), ...tail]);
}
