import { type Parsed, parsed, unparsed } from './parsed.ts';

declare const brand: unique symbol;
/** Canonical form: `0x` and 40 lowercase hex digits. */
export type EvmAddress = string & { readonly [brand]: 'EvmAddress' };

export function parseEvmAddress(text: string): Parsed<EvmAddress> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return unparsed('must be 0x and 40 hexadecimal digits');
  if (/^0x0+$/.test(text)) return unparsed('must not be the zero address');
  return parsed(text.toLowerCase() as EvmAddress);
}
