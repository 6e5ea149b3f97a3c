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

/** Canonical form: `0x` and 40 lowercase hex digits. */
export type EvmAddress = string & { readonly [brand]: 'EvmAddress' };

export function parseEvmAddress(text: string): Parsed<EvmAddress> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return unparsed('must be 0x and 40 hexadecimal digits');
  if (/^0x0+$/.test(text)) return unparsed('must not be the zero address');
  return parsed(text.toLowerCase() as EvmAddress);
}

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

/** USDC on both networks and the programs around it. They are on the curve like wallets, and what they get is lost. */
const NO_WALLETS: ReadonlySet<string> = new Set([
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe',
  'CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC',
]);

export const isSolanaProgram = (address: SolanaAddress): boolean => NO_WALLETS.has(address);

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
