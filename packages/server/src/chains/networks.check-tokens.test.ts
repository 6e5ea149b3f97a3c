import { describe, expect, it } from 'vitest';
import { checkTokens, WrongTokenError } from './networks.ts';
import { ChainUnavailableError } from './node-fetch.ts';
import type { Token } from './tokens.ts';

const usdc: Token = { chain: 'BASE', token: 'USDC', address: '0x1', decimals: 6 };
const coin: Token = { chain: 'BASE', token: 'ETH', address: null, decimals: 18 };

describe('the token table', () => {
  it('is right when the contracts say the same, and the own coin is not asked', async () => {
    const asked: string[] = [];
    const decimals = async (address: string) => {
      asked.push(address);
      return 6;
    };
    expect(await checkTokens([usdc, coin], decimals)).toEqual([]);
    expect(asked).toEqual(['0x1']);
  });

  it('is refused when a contract has other decimals', async () => {
    await expect(checkTokens([usdc], async () => 18)).rejects.toThrow(WrongTokenError);
    await expect(checkTokens([usdc], async () => 18)).rejects.toThrow('USDC on BASE has 18 decimals');
  });

  it('stays unproven while no node answers or no contract stands there', async () => {
    const away = async () => Promise.reject(new ChainUnavailableError('BASE'));
    expect(await checkTokens([usdc], away)).toEqual(['USDC']);
    expect(await checkTokens([usdc], async () => undefined)).toEqual(['USDC']);
  });
});
