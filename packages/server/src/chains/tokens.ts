import { type Chain, type ChainToken, chains, parseEvmAddress, parseStarknetAddress } from '@svc/protocol';
import { starknetTokens } from '@svc/starknet';

export type EvmChainName = Exclude<Chain, 'STARKNET'>;
/** The sandbox has mainnet's token addresses. */
export type StarknetNetworkName = 'mainnet' | 'sepolia' | 'sandbox';

export interface Token {
  readonly chain: Chain;
  readonly token: ChainToken;
  readonly address: string | null;
  readonly decimals: number;
}

type Row = readonly [token: ChainToken, address: string | null, decimals: number];

const NATIVE_ETH: Row = ['ETH', null, 18];

const evmRows: Readonly<Record<EvmChainName, readonly Row[]>> = {
  BASE: [
    ['USDC', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 6],
    ['USDC_E', '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', 6],
    ['USDT', '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', 6],
    ['DAI', '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb', 18],
    ['WBTC', '0x0555E30da8f98308EdB960aa94C0Db47230d2B9c', 8],
    NATIVE_ETH,
  ],
  ARBITRUM: [
    ['USDC', '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 6],
    ['USDC_E', '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8', 6],
    ['USDT', '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 6],
    ['DAI', '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', 18],
    ['WBTC', '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f', 8],
    ['ARB', '0x912CE59144191C1204E64559FE8253a0e49E6548', 18],
    ['MXNB', '0xF197FFC28c23E0309B5559e7a166f2c6164C80aA', 6],
    NATIVE_ETH,
  ],
  OPTIMISM: [
    ['USDC', '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 6],
    ['USDC_E', '0x7F5c764cBc14f9669B88837ca1490cCa17c31607', 6],
    ['USDT', '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58', 6],
    ['DAI', '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', 18],
    ['WBTC', '0x68f180fcCe6836688e9084f035309E29Bf0A2095', 8],
    ['WLD', '0xdC6fF44d5d932Cbd77B52E5612Ba0529DC6226F1', 18],
    NATIVE_ETH,
  ],
  // The native coin is RBTC. It must never pass for ETH.
  ROOTSTOCK: [
    ['DOC', '0xe700691dA7b9851F2F35f8b8182c69c53CcaD9Db', 18],
    // USDT0, with 6 decimals wherever it is issued. Sources disagree on contract and decimals.
    ['USDT', '0x779dED0c9e1022225f8E0630b35a9b54bE713736', 6],
    ['USDC_E', '0x74C9F2B00581F1b11Aa7Ff05aa9f608B7389de67', 6],
    ['DAI', '0x6B1a73d547F4009A26B8485b63D7015D248AD406', 18],
  ],
  SCROLL: [
    ['USDC', '0x06eFdBFf2a14a7c8E15944D1F4A48F9F95F663A4', 6],
    ['USDT', '0xf55BEC9cafDbE8730f096Aa55dad6D22d44099Df', 6],
    ['DAI', '0xcA77eB3fEFe3725Dc33bccB54eDEFc3D9f764f97', 18],
    ['WBTC', '0x3C1BCa5a656e69edCD0D4E36BEbb3FcDAcA60Cf1', 8],
    NATIVE_ETH,
  ],
  WORLDCHAIN: [
    ['USDC', '0x79A02482A880bCE3F13e09Da970dC34db4CD24d1', 6],
    ['WLD', '0x2cFc85d8E48F8EAB294be644d9E25C3030863003', 18],
    ['WBTC', '0x03C7054BCB39f7b2e5B2c7AcB37583e32D70Cfa3', 8],
    NATIVE_ETH,
  ],
};

export const evmChainIds: Readonly<Record<EvmChainName, number>> = {
  BASE: 8_453,
  ARBITRUM: 42_161,
  OPTIMISM: 10,
  ROOTSTOCK: 30,
  SCROLL: 534_352,
  WORLDCHAIN: 480,
};
export const evmChainNames = chains.filter((chain) => chain !== 'STARKNET');

const MAX_DECIMALS = 18;

function readRows(chain: Chain, rows: readonly Row[]): readonly Token[] {
  return rows.map(([token, text, decimals]) => {
    if (decimals > MAX_DECIMALS) throw new Error(`${token} on ${chain} cannot have ${decimals} decimals.`);
    return { chain, token, address: text === null ? null : normalAddress(chain, text), decimals };
  });
}

function normalAddress(chain: Chain, text: string): string {
  const address = chain === 'STARKNET' ? parseStarknetAddress(text) : parseEvmAddress(text);
  if (!address.ok) throw new Error(`${text} on ${chain} ${address.reason}.`);
  return address.value;
}

function tableOf(network: 'mainnet' | 'sepolia'): ReadonlyMap<Chain, readonly Token[]> {
  const all = { STARKNET: starknetTokens[network], ...evmRows };
  return new Map(chains.map((chain) => [chain, readRows(chain, all[chain])]));
}

const tables = { mainnet: tableOf('mainnet'), sepolia: tableOf('sepolia') };

export function tokensOf(network: StarknetNetworkName, chain: Chain): readonly Token[] {
  return tables[network === 'sandbox' ? 'mainnet' : network].get(chain) ?? [];
}

export function findToken(network: StarknetNetworkName, chain: Chain, token: ChainToken): Token | undefined {
  return tokensOf(network, chain).find((known) => known.token === token);
}
