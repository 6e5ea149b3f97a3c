import { erc20Code } from './erc20.ts';
import { type EvmChain, type EvmChainSeed, evmChains } from './tokens.ts';

/** The bytes of SVC_SANDBOX_FAUCET. Nobody has its key: the engine lets it send, and only when the faucet is asked. */
export const FAUCET = '0x00005356435f53414e44424f585f464155434554';
/** So much that no number of grants empties it, so little that no balance can overflow. */
const FAUCET_BALANCE = 2n ** 200n;
/** Fixed, so that every process starts from the same first block. */
export const GENESIS_TIME = 1_700_000_000;

export interface GenesisAccount {
  readonly address: Uint8Array;
  readonly balance?: bigint;
  readonly code?: Uint8Array;
}

/** The accounts that a chain starts with: the faucet and the token contracts, without supply until somebody asks. */
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
