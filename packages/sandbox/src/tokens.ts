import type { ChainToken } from '@svc/protocol';

export interface Token {
  readonly token: ChainToken;
  readonly name: string;
  readonly symbol: string;
  readonly address: bigint;
  readonly decimals: number;
}

/** Tokens on Starknet, at their mainnet addresses. */
// biome-ignore format: a table
export const starknetTokens: readonly Token[] = [
  { token: 'USDC',    name: 'USD Coin',         symbol: 'USDC',    decimals: 6,  address: 0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fbn },
  { token: 'USDC_E',  name: 'Bridged USDC',     symbol: 'USDC.e',  decimals: 6,  address: 0x053c91253bc9682c04929ca02ed00b3e423f6710d2ee7e0d5ebb06f3ecf368a8n },
  { token: 'USDT',    name: 'Tether USD',       symbol: 'USDT',    decimals: 6,  address: 0x068f5c6a61780768455de69077e07e89787839bf8166decfbf92b645209c0fb8n },
  { token: 'DAI',     name: 'Dai Stablecoin',   symbol: 'DAI',     decimals: 18, address: 0x05574eb6b8789a91466f902c380d978e472db68170ff82a5b650b95a58ddf4adn },
  { token: 'ETH',     name: 'Ether',            symbol: 'ETH',     decimals: 18, address: 0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7n },
  { token: 'STRK',    name: 'Starknet Token',   symbol: 'STRK',    decimals: 18, address: 0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938dn },
  { token: 'WBTC',    name: 'Wrapped BTC',      symbol: 'WBTC',    decimals: 8,  address: 0x03fe2b97c1fd336e750087d68b9b867997fd64a2661ff3ca5a7c771641e8e7acn },
  { token: 'SLINK',   name: 'Slinky',           symbol: 'SLINK',   decimals: 18, address: 0x013ff4e86fa3e7286cc5c64b62f4099cf41e7918d727d22a5109ecfd00274d19n },
  { token: 'ALF',     name: 'Alf the Alpha',    symbol: 'ALF',     decimals: 18, address: 0x078d7dfcddb44667153513bd837ff534ef395484f4b6cf28faa25b2c46e063d9n },
  { token: 'BROTHER', name: 'Starknet Brother', symbol: 'BROTHER', decimals: 18, address: 0x03b405a98c9e795d427fe82cdeeeed803f221b52471e3a757574a2b4180793een },
];

export function starknetToken(token: ChainToken): Token {
  const found = starknetTokens.find((known) => known.token === token);
  if (!found) throw new Error(`There is no token ${token} on Starknet.`);
  return found;
}
