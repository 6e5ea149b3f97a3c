import { chains, chainTokens } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { evmChains } from '../../../sandbox/src/evm/tokens.ts';
import { starknetTokens } from '../../../sandbox/src/tokens.ts';
import { evmChainIds, evmChainNames, findToken, tokensOf } from './tokens.ts';

describe('the token table', () => {
  it('has on Starknet what the sandbox has there, at the same addresses', () => {
    const own = tokensOf('sandbox', 'STARKNET').map(({ token, address, decimals }) => {
      return { token, address: BigInt(address ?? 0), decimals };
    });
    expect(own).toEqual(starknetTokens.map(({ token, address, decimals }) => ({ token, address, decimals })));
    expect(tokensOf('mainnet', 'STARKNET')).toBe(tokensOf('sandbox', 'STARKNET'));
  });

  it.each(evmChainNames)('has on %s what the sandbox has there, and its coin where that is ETH', (chain) => {
    const { id, native, tokens } = evmChains[chain];
    const expected = tokens.map(({ token, address, decimals }) => {
      return { chain, token, address: address.toLowerCase(), decimals };
    });
    const coin = native === 'ETH' ? [{ chain, token: 'ETH', address: null, decimals: 18 }] : [];
    expect(tokensOf('sandbox', chain)).toEqual([...expected, ...coin]);
    expect(evmChainIds[chain]).toBe(id);
  });

  it('has other addresses for the stablecoins of Sepolia, and the same for the tokens of fees', () => {
    expect(findToken('sepolia', 'STARKNET', 'USDC')).toEqual({
      chain: 'STARKNET',
      token: 'USDC',
      address: '0x0512feac6339ff7889822cb5aa2a86c848e9d392bb0e3e237c008674feed8343',
      decimals: 6,
    });
    expect(findToken('sepolia', 'STARKNET', 'STRK')).toEqual(findToken('mainnet', 'STARKNET', 'STRK'));
    expect(findToken('sepolia', 'STARKNET', 'BROTHER')).toBeUndefined();
  });

  it.each(chains)('never has OTHER on %s, and names each token once', (chain) => {
    for (const network of ['mainnet', 'sepolia', 'sandbox'] as const) {
      expect(findToken(network, chain, 'OTHER')).toBeUndefined();
      const names = tokensOf(network, chain).map(({ token }) => token);
      expect(new Set(names).size).toBe(names.length);
      for (const token of chainTokens)
        expect(findToken(network, chain, token) !== undefined).toBe(names.includes(token));
    }
  });

  it("does not take Rootstock's coin for ETH", () => {
    expect(findToken('mainnet', 'ROOTSTOCK', 'ETH')).toBeUndefined();
  });
});
