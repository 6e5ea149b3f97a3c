import { type Parsed, parsed, unparsed } from '@svc/protocol';
import { parseFelt } from '@svc/starknet';

/** A Starknet hash in any case and any zero padding. Records have it as nodes spell it, without zeros in front. */
export function parseStarknetHash(text: string): Parsed<bigint> {
  if (!/^0x[0-9a-fA-F]{1,64}$/.test(text)) return unparsed('must be 0x and up to 64 hexadecimal digits');
  return parseFelt(text);
}

/** The hash of a transaction on an EVM chain, in lower case. */
export function parseEvmHash(text: string): Parsed<string> {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) return unparsed('must be 0x and 64 hexadecimal digits');
  return parsed(text.toLowerCase());
}
