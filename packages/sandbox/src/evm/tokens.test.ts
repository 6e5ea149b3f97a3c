import { chains, chainTokens } from '@svc/protocol';
import { isAddress } from 'viem';
import * as live from 'viem/chains';
import { describe, expect, it } from 'vitest';
import { type EvmChain, evmChains, FAUCET, genesisAccounts, parseEvmChain } from './tokens.ts';

const seeds = Object.entries(evmChains) as [EvmChain, (typeof evmChains)[EvmChain]][];

describe('the table of EVM chains', () => {
  it('has every chain of the interface but Starknet', () => {
    expect(seeds.map(([chain]) => chain)).toEqual(chains.filter((chain) => chain !== 'STARKNET'));
  });

  it('has the ids and coins of the live chains', () => {
    const known = [live.base, live.arbitrum, live.optimism, live.rootstock, live.scroll, live.worldchain];
    expect(seeds.map(([, { id, native }]) => [id, native])).toEqual(
      known.map(({ id, nativeCurrency }) => [id, nativeCurrency.symbol]),
    );
  });

  it.each(seeds)('names each token of %s once, at an address with a valid checksum', (_, { tokens }) => {
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(tokens.length);
    expect(new Set(tokens.map(({ address }) => address)).size).toBe(tokens.length);
    for (const { token, address } of tokens) {
      expect(chainTokens).toContain(token);
      expect(isAddress(address, { strict: true })).toBe(true);
    }
  });

  it('does not take the coin of any chain for a contract', () => {
    for (const [, { native, tokens }] of seeds) expect(tokens.map(({ token }) => token)).not.toContain(native);
  });
});

describe('the first block', () => {
  it('has a contract for each token, and money for the faucet alone', () => {
    for (const [chain, { tokens }] of seeds) {
      const accounts = genesisAccounts(chain);
      expect(accounts.filter(({ code }) => code).map(({ address }) => hex(address))).toEqual(
        tokens.map(({ address }) => address.toLowerCase()),
      );
      expect(accounts.filter(({ balance }) => balance).map(({ address }) => hex(address))).toEqual([FAUCET]);
    }
  });
});

describe('the name of a chain', () => {
  it.each(['base', 'BASE', 'Base'])('%s is read in any case', (name) => {
    expect(parseEvmChain(name)).toBe('BASE');
  });

  it.each(['', 'STARKNET', 'toString', '__proto__'])('%s is none of these', (name) => {
    expect(parseEvmChain(name)).toBeUndefined();
  });
});

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
