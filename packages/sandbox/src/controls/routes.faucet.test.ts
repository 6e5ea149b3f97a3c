import { ApiError } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { readFaucetRequest } from './routes.ts';

const good = { address: '0x0B0b', token: 'USDC', amount: '1.5' };

function refusal(changes: object): string {
  try {
    readFaucetRequest({ ...good, ...changes });
  } catch (error) {
    if (error instanceof ApiError) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('It should be refused.');
}

describe('a request to the faucet', () => {
  it('is read exactly, on Starknet by default', () => {
    expect(readFaucetRequest(good)).toEqual({
      chain: 'STARKNET',
      funding: {
        token: 0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fbn,
        to: 0xb0bn,
        amount: 1_500_000n,
      },
    });
  });

  it('may name an EVM chain and its own coin', () => {
    const request = { chain: 'ROOTSTOCK', token: 'RBTC', address: '0xabc', amount: '0.000000000000000001' };
    expect(readFaucetRequest(request)).toEqual({ ...request, amount: 1n });
  });

  it.each([
    ['digits that the token does not have', { amount: '0.0000001' }, 'invalid_request'],
    ['zero', { amount: '0' }, 'invalid_request'],
    ['a negative amount', { amount: '-1' }, 'invalid_request'],
    ['an exponent', { amount: '1e3' }, 'invalid_request'],
    ['a number in place of a text', { amount: 5 }, 'invalid_request'],
    ['more than there could be use for', { amount: '1000000001' }, 'invalid_request'],
    ['an unknown token', { token: 'DOGE' }, 'invalid_request'],
    ['a token that Starknet does not have', { token: 'ARB' }, 'token_not_supported'],
    ['OTHER', { token: 'OTHER' }, 'token_not_supported'],
    ['a token that the EVM chain does not have', { chain: 'BASE', token: 'DOC' }, 'token_not_supported'],
    ['the zero address', { address: '0x0' }, 'invalid_request'],
    ['an address without 0x', { address: 'b0b' }, 'invalid_request'],
    ['an unknown chain', { chain: 'SOLANA' }, 'invalid_request'],
  ])('is refused for %s', (_name, changes, code) => {
    expect(refusal(changes)).toMatch(new RegExp(`^${code}: .*\\.$`));
  });
});
