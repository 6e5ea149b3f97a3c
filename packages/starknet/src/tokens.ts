import type { ChainToken } from '@svc/protocol';
import { chainIds } from './constants.ts';

export type StarknetToken = readonly [token: ChainToken, address: string, decimals: number];

const ETH: StarknetToken = ['ETH', '0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7', 18];
const STRK: StarknetToken = ['STRK', '0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d', 18];

/** The service's tokens on the live networks, which the client library pins. */
export const starknetTokens: Readonly<Record<'mainnet' | 'sepolia', readonly StarknetToken[]>> = {
  mainnet: [
    ['USDC', '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb', 6],
    ['USDC_E', '0x053c91253bc9682c04929ca02ed00b3e423f6710d2ee7e0d5ebb06f3ecf368a8', 6],
    ['USDT', '0x068f5c6a61780768455de69077e07e89787839bf8166decfbf92b645209c0fb8', 6],
    ['DAI', '0x05574eb6b8789a91466f902c380d978e472db68170ff82a5b650b95a58ddf4ad', 18],
    ETH,
    STRK,
    ['WBTC', '0x03fe2b97c1fd336e750087d68b9b867997fd64a2661ff3ca5a7c771641e8e7ac', 8],
    ['SLINK', '0x013ff4e86fa3e7286cc5c64b62f4099cf41e7918d727d22a5109ecfd00274d19', 18],
    ['ALF', '0x078d7dfcddb44667153513bd837ff534ef395484f4b6cf28faa25b2c46e063d9', 18],
    ['BROTHER', '0x03b405a98c9e795d427fe82cdeeeed803f221b52471e3a757574a2b4180793ee', 18],
  ],
  sepolia: [
    ['USDC', '0x0512feac6339ff7889822cb5aa2a86c848e9d392bb0e3e237c008674feed8343', 6],
    ['USDC_E', '0x053b40a647cedfca6ca84f542a0fe36736031905a9639a7f19a3c1e66bfd5080', 6],
    ETH,
    STRK,
  ],
};

/** Circle's contract that burns on Starknet, and the USDC that is minted on Solana for it. */
export interface SolanaBridge {
  readonly tokenMessenger: bigint;
  readonly usdcMint: string;
}

export const solanaBridges: Readonly<Record<'mainnet' | 'sepolia', SolanaBridge>> = {
  mainnet: {
    tokenMessenger: 0x07d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2an,
    usdcMint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  },
  sepolia: {
    tokenMessenger: 0x04bdde1e09a4b09a2f95d893d94a967b7717eb85a3f6deca8c080ee01fbc3370n,
    usdcMint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  },
};

export function liveBridge(chainId: bigint): SolanaBridge | undefined {
  if (chainId === chainIds.SN_MAIN) return solanaBridges.mainnet;
  return chainId === chainIds.SN_SEPOLIA ? solanaBridges.sepolia : undefined;
}

export function liveTokens(chainId: bigint): readonly StarknetToken[] | undefined {
  if (chainId === chainIds.SN_MAIN) return starknetTokens.mainnet;
  return chainId === chainIds.SN_SEPOLIA ? starknetTokens.sepolia : undefined;
}
