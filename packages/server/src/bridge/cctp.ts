import { parseSolanaAddress, type SolanaAddress } from '@svc/protocol';
import type { StarknetNetworkName } from '../chains/tokens.ts';

/** Circle's numbers of the chains. */
export const STARKNET_DOMAIN = 25n;
export const SOLANA_DOMAIN = 5n;
/** Of messages and of their bodies. */
export const CCTP_VERSION = 1n;
/** Attested after a few blocks, or when the burn is final. */
export const FAST_THRESHOLD = 1_000n;
export const STANDARD_THRESHOLD = 2_000n;
/** Who receives messages on Solana. */
export const SOLANA_TOKEN_MESSENGER = solanaAddress('CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe');

/** Where the bridge stands on a network of Starknet, and the token on the other side. */
export interface CctpPlaces {
  readonly tokenMessenger: bigint;
  readonly messageTransmitter: bigint;
  readonly usdcMint: SolanaAddress;
}

const mainnet: CctpPlaces = {
  tokenMessenger: 0x07d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2an,
  messageTransmitter: 0x02ebb5777b6dd8b26ea11d68fdf1d2c85cd2099335328be845a28c77a8aef183n,
  usdcMint: solanaAddress('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
};

export const cctpPlaces: Readonly<Record<StarknetNetworkName, CctpPlaces>> = {
  mainnet,
  sepolia: {
    tokenMessenger: 0x04bdde1e09a4b09a2f95d893d94a967b7717eb85a3f6deca8c080ee01fbc3370n,
    messageTransmitter: 0x04db7926c64f1f32a840f3fa95cb551f3801a3600bae87af87807a54dce12fe8n,
    usdcMint: solanaAddress('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'),
  },
  // The sandbox keeps everything where mainnet has it.
  sandbox: mainnet,
};

export const thresholdOf = (fast: boolean): bigint => (fast ? FAST_THRESHOLD : STANDARD_THRESHOLD);

function solanaAddress(text: string): SolanaAddress {
  const address = parseSolanaAddress(text);
  if (!address.ok) throw new Error(`${text} ${address.reason}.`);
  return address.value;
}
