import type { Chain, ChainToken } from '@svc/protocol';
import { erc20Code } from './erc20.ts';

export type EvmChain = Exclude<Chain, 'STARKNET'>;
/** Rootstock's coin is worth a bitcoin and must never be taken for `ETH`. */
export type NativeCoin = 'ETH' | 'RBTC';

export interface EvmToken {
  readonly token: ChainToken;
  readonly address: `0x${string}`;
  readonly decimals: number;
  /** As the contract answers; may differ from the interface's `token`. */
  readonly symbol: string;
  readonly name: string;
}

export interface EvmChainSeed {
  readonly id: number;
  readonly native: NativeCoin;
  readonly tokens: readonly EvmToken[];
}

const names: Partial<Record<ChainToken, string>> = {
  USDC: 'USD Coin',
  USDC_E: 'Bridged USD Coin',
  USDT: 'Tether USD',
  DAI: 'Dai Stablecoin',
  WBTC: 'Wrapped BTC',
  ARB: 'Arbitrum',
  MXNB: 'Mexican Peso',
  WLD: 'Worldcoin',
  DOC: 'Dollar on Chain',
};

function erc20(token: ChainToken, address: `0x${string}`, decimals: number, symbol: string = token): EvmToken {
  return { token, address, decimals, symbol, name: names[token] ?? symbol };
}

/** Token contracts at their addresses on the live chains. */
export const evmChains: Readonly<Record<EvmChain, EvmChainSeed>> = {
  BASE: {
    id: 8453,
    native: 'ETH',
    tokens: [
      erc20('USDC', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 6),
      erc20('USDC_E', '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', 6, 'USDbC'),
      erc20('USDT', '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', 6),
      erc20('DAI', '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb', 18),
      erc20('WBTC', '0x0555E30da8f98308EdB960aa94C0Db47230d2B9c', 8),
    ],
  },
  ARBITRUM: {
    id: 42_161,
    native: 'ETH',
    tokens: [
      erc20('USDC', '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 6),
      erc20('USDC_E', '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8', 6, 'USDC.e'),
      erc20('USDT', '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 6, 'USD₮0'),
      erc20('DAI', '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', 18),
      erc20('WBTC', '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f', 8),
      erc20('ARB', '0x912CE59144191C1204E64559FE8253a0e49E6548', 18),
      erc20('MXNB', '0xF197FFC28c23E0309B5559e7a166f2c6164C80aA', 6),
    ],
  },
  OPTIMISM: {
    id: 10,
    native: 'ETH',
    tokens: [
      erc20('USDC', '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 6),
      erc20('USDC_E', '0x7F5c764cBc14f9669B88837ca1490cCa17c31607', 6, 'USDC.e'),
      erc20('USDT', '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58', 6),
      erc20('DAI', '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', 18),
      erc20('WBTC', '0x68f180fcCe6836688e9084f035309E29Bf0A2095', 8),
      erc20('WLD', '0xdC6fF44d5d932Cbd77B52E5612Ba0529DC6226F1', 18),
    ],
  },
  ROOTSTOCK: {
    id: 30,
    native: 'RBTC',
    tokens: [
      erc20('DOC', '0xe700691dA7b9851F2F35f8b8182c69c53CcaD9Db', 18),
      // Of three contracts, USDT0 is Rootstock's choice, with 6 decimals everywhere; the others wrap older bridges.
      erc20('USDT', '0x779Ded0c9e1022225f8E0630b35a9b54bE713736', 6, 'USD₮0'),
      // Sources disagree on the decimals; the issuing bridge keeps the 6 of the wrapped token.
      erc20('USDC_E', '0x74c9f2b00581F1B11AA7ff05aa9F608B7389De67', 6, 'USDC.e'),
      erc20('DAI', '0x6B1A73d547F4009a26B8485B63d7015d248Ad406', 18, 'rDAI'),
    ],
  },
  SCROLL: {
    id: 534_352,
    native: 'ETH',
    tokens: [
      erc20('USDC', '0x06eFdBFf2a14a7c8E15944D1F4A48F9F95F663A4', 6),
      erc20('USDT', '0xf55BEC9cafDbE8730f096Aa55dad6D22d44099Df', 6),
      erc20('DAI', '0xcA77eB3fEFe3725Dc33bccB54eDEFc3D9f764f97', 18),
      erc20('WBTC', '0x3C1BCa5a656e69edCD0D4E36BEbb3FcDAcA60Cf1', 8),
    ],
  },
  WORLDCHAIN: {
    id: 480,
    native: 'ETH',
    tokens: [
      erc20('USDC', '0x79A02482A880bCE3F13e09Da970dC34db4CD24d1', 6),
      erc20('WLD', '0x2cFc85d8E48F8EAB294be644d9E25C3030863003', 18),
      erc20('WBTC', '0x03C7054BCB39f7b2e5B2c7AcB37583e32D70Cfa3', 8),
    ],
  },
};

export function parseEvmChain(text: string): EvmChain | undefined {
  const name = text.toUpperCase();
  return Object.hasOwn(evmChains, name) ? (name as EvmChain) : undefined;
}

/** The bytes of SVC_SANDBOX_FAUCET. No known key: only the engine sends from it. */
export const FAUCET = '0x00005356435f53414e44424f585f464155434554';
/** Never runs out, and cannot overflow a balance. */
const FAUCET_BALANCE = 2n ** 200n;
/** Every process must start from the same first block. */
export const GENESIS_TIME = 1_700_000_000;

export interface GenesisAccount {
  readonly address: Uint8Array;
  readonly balance?: bigint;
  readonly code?: Uint8Array;
}

export function genesisAccounts(chain: EvmChain): GenesisAccount[] {
  const seed: EvmChainSeed = evmChains[chain];
  const contracts = seed.tokens.map(({ address, name, symbol, decimals }) => ({
    address: bytes(address),
    code: erc20Code({ name, symbol, decimals, faucet: FAUCET }),
  }));
  return [{ address: bytes(FAUCET), balance: FAUCET_BALANCE }, ...contracts];
}

export function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.slice(2), 'hex'));
}
