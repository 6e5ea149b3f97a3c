import {
  ApiError,
  type Parsed,
  parseSolanaAddress,
  parseStarknetAddress,
  type RedeemChain,
  unparsed,
} from '@svc/protocol';
import { isSolanaWallet } from '../../bridge/token-account.ts';
import type { GiftRecord } from '../gift.ts';
import type { ClaimParts } from './parts.ts';

/** Where a redeem goes. */
export interface Destination {
  readonly chain: RedeemChain;
  /** In its one normal form. */
  readonly address: string;
  /** As it was given. */
  readonly shownAddress: string;
}

/** Nobody's wallet, though people find these when they look for an address of USDC: its mints, and the program that keeps tokens. */
const solanaPrograms: ReadonlySet<string> = new Set([
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
]);

export function readDestination(chain: RedeemChain, walletAddress: string): Destination {
  const parsed: Parsed<string> =
    chain === 'solana' ? parseSolanaWallet(walletAddress) : parseStarknetAddress(walletAddress);
  if (!parsed.ok) refuse(parsed.reason);
  return { chain, address: parsed.value, shownAddress: walletAddress };
}

/** A token account is often taken for the wallet that owns it; what is sent to its own token account is lost. */
function parseSolanaWallet(text: string): Parsed<string> {
  const address = parseSolanaAddress(text);
  if (!address.ok || isSolanaWallet(address.value)) return address;
  return unparsed('must be a wallet, not a token account or a program, which have no key');
}

/** Refuses what is no wallet of anybody, and chains that the gift's environment does not have. */
export function requireReachable(
  { networks, manager, canBridge }: Pick<ClaimParts, 'networks' | 'manager' | 'canBridge'>,
  { environment, cctpFast, bridge }: Pick<GiftRecord, 'environment' | 'cctpFast' | 'bridge'>,
  { chain, address }: Destination,
): void {
  const payer = manager(environment);
  if (chain === 'solana') {
    // Of a gift that was made while there was no bridge, nothing is held for it.
    if (!canBridge(environment) || (cctpFast && bridge === 0n)) {
      throw new ApiError('chain_not_configured', 'Solana is not configured for this gift. Choose Starknet.');
    }
    if (solanaPrograms.has(address)) refuse('must be a wallet, not a program or a token');
    return;
  }
  const value = BigInt(address);
  const tokens = networks.tokens(environment).filter((token) => token.chain === 'STARKNET' && token.address !== null);
  if (tokens.some((token) => BigInt(token.address ?? 0) === value)) refuse('must be a wallet, not a token');
  const own = [payer, BigInt(networks.starknet(environment).paymentAddress)];
  if (own.includes(value)) refuse('must be a wallet of yours, not one of this service');
}

function refuse(reason: string): never {
  throw new ApiError('invalid_request', `body.walletAddress ${reason}.`);
}
