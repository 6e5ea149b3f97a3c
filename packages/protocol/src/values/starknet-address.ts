import { hex64 } from './hex.ts';
import { type Parsed, parsed, unparsed } from './parsed.ts';

declare const brand: unique symbol;
/** Canonical form: `0x` and 64 lowercase hex digits. */
export type StarknetAddress = string & { readonly [brand]: 'StarknetAddress' };

/** The protocol's bound on contract addresses. */
const ADDRESS_BOUND = 2n ** 251n - 256n;

/** In any case and with any zero padding. */
export function parseStarknetAddress(text: string): Parsed<StarknetAddress> {
  if (!/^0x[0-9a-fA-F]{1,64}$/.test(text)) return unparsed('must be 0x and up to 64 hexadecimal digits');
  const value = BigInt(text);
  if (value === 0n) return unparsed('must not be the zero address');
  if (value >= ADDRESS_BOUND) return unparsed('is too large for a Starknet address');
  return parsed(`0x${hex64(value)}` as StarknetAddress);
}
