import { describe, expect, it } from 'vitest';
import { checkAddress, cleanAddress } from './address.ts';

const starknet = `0x04${'a1b2c3d4e5f60718'.repeat(4).slice(2)}`;
const solana = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';

describe('an address', () => {
  it.each([
    [` ${starknet}\n`, starknet],
    [`starknet:${starknet}`, starknet],
    [`solana:${solana}?amount=1&label=x`, solana],
    [`starknet://${starknet}@0x534e5f4d41494e`, starknet],
    [`${starknet.slice(0, 20)}\n${starknet.slice(20)}`, starknet],
    [`0X${starknet.slice(2)}`, starknet],
    [`\u200b${solana}\ufeff`, solana],
  ])('is found in %j', (text, address) => {
    expect(cleanAddress(text)).toBe(address);
  });

  it('is right on its own network and named on the other', () => {
    expect(checkAddress(starknet, 'starknet')).toEqual({ state: 'right', address: starknet });
    expect(checkAddress(solana, 'solana')).toEqual({ state: 'right', address: solana });
    expect(checkAddress(solana, 'starknet')).toEqual({ state: 'otherChain', chain: 'solana' });
    expect(checkAddress(starknet, 'solana')).toEqual({ state: 'otherChain', chain: 'starknet' });
  });

  it('may lack the zeros that wallets leave out', () => {
    expect(checkAddress(`0x${starknet.slice(4)}`, 'starknet').state).toBe('right');
  });

  it.each(['starknet', 'solana'] as const)('of Ethereum is never taken for one of %s', (chain) => {
    expect(checkAddress(`0x${'A1'.repeat(20)}`, chain).state).toBe('ethereum');
  });

  it('that is only the beginning of one is never right', () => {
    const beginnings = Array.from({ length: 59 }, (_, digits) => starknet.slice(0, 2 + digits));
    const states = beginnings.map((text) => checkAddress(text, 'starknet').state);
    expect(states.filter((state) => state !== 'incomplete' && state !== 'ethereum')).toEqual([]);
  });

  it.each([
    ['', 'empty'],
    ['  ', 'empty'],
    ['grandma.stark', 'wrong'],
    [`0x${'f'.repeat(64)}`, 'wrong'],
    [`0x${'0'.repeat(64)}`, 'wrong'],
    [`${starknet}00`, 'wrong'],
  ])('is not %j', (text, state) => {
    expect(checkAddress(text, 'starknet').state).toBe(state);
  });
});
