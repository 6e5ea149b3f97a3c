import { parseSolanaAddress, parseStarknetAddress, type RedeemChain } from '@svc/protocol';

export type AddressCheck =
  | { readonly state: 'empty' | 'incomplete' | 'wrong' | 'ethereum' }
  | { readonly state: 'otherChain'; readonly chain: RedeemChain }
  | { readonly state: 'right'; readonly address: string };

// Every prefix of a Starknet address is a valid address too, and funds sent there are lost. Wallets strip leading zeros
// of the 64 digits; more than four of them occur once in a million.
const FEWEST_STARKNET_DIGITS = 60;
const ETHEREUM = /^0x[0-9a-f]{40}$/i;

/** Strips blanks, line breaks and URI parts of copied or scanned text: `starknet:0x…`, `solana:…?amount=1`. */
export function cleanAddress(text: string): string {
  return text
    .replace(/[\s\u200b-\u200d\u2060\ufeff]/g, '')
    .replace(/^(starknet|solana):(\/\/)?/i, '')
    .replace(/[?@#/].*$/, '')
    .replace(/^0X/, '0x');
}

export function checkAddress(text: string, chain: RedeemChain): AddressCheck {
  const address = cleanAddress(text);
  if (address === '') return { state: 'empty' };
  if (ETHEREUM.test(address)) return { state: 'ethereum' };
  if (isAddressOf(chain, address)) return { state: 'right', address };
  const other = chain === 'starknet' ? 'solana' : 'starknet';
  if (isAddressOf(other, address)) return { state: 'otherChain', chain: other };
  return { state: isBeginning(chain, address) ? 'incomplete' : 'wrong' };
}

function isAddressOf(chain: RedeemChain, address: string): boolean {
  if (chain === 'solana') return parseSolanaAddress(address).ok;
  return parseStarknetAddress(address).ok && address.length - '0x'.length >= FEWEST_STARKNET_DIGITS;
}

function isBeginning(chain: RedeemChain, address: string): boolean {
  return chain === 'solana' ? /^[1-9A-HJ-NP-Za-km-z]{1,43}$/.test(address) : /^0(x[0-9a-fA-F]{0,63})?$/.test(address);
}
