import { PRIME, selector, toHex } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { SvcInputError } from '../client/errors.ts';
import { type ContractCall, toCall, toCalls, toWireCall } from './calls.ts';

const call: ContractCall = { contractAddress: '0x00AbC', entrypoint: 'transfer', calldata: [] };
const refusal = (changes: object): string => {
  try {
    toCall({ ...call, ...changes });
  } catch (error) {
    expect(error).toMatchObject({ constructor: SvcInputError, code: 'invalid_input' });
    return (error as Error).message;
  }
  return 'let through';
};

describe('a call', () => {
  it('is read by value, its function by name or selector', () => {
    const calldata = [1n, 2, '0x03', '4'];
    const read = { to: 0xabcn, selector: selector('transfer'), calldata: [1n, 2n, 3n, 4n] };
    expect(toCall({ ...call, calldata })).toEqual(read);
    expect(toCall({ ...call, calldata, entrypoint: toHex(selector('transfer')) })).toEqual(read);
  });

  it('is sent to the service with its function name', () => {
    const wire = { contractAddress: '0xabc', entrypoint: 'transfer', calldata: ['0x1', '0xff'] };
    expect(toWireCall({ ...call, calldata: [1, '255'] })).toEqual(wire);
  });

  it.each([
    ['a number that is not exact', 2 ** 53],
    ['a fraction', 0.5],
    ['a negative number', -1],
    ['a negative bigint', -1n],
    ['what does not fit a felt', PRIME],
    ['text that is no number', 'USDC'],
    ['empty text', ''],
    ['nothing', undefined],
  ])('is refused with %s in its calldata, naming the index', (_, item) => {
    expect(refusal({ calldata: [0, item] })).toContain('calldata[1] ');
  });

  it.each([undefined, null, '0x1', { 0: 1 }])('is refused with %o for its calldata', (calldata) => {
    expect(refusal({ calldata })).toContain('calldata ');
  });

  it.each([[undefined], [null], [[]], [{}], [[undefined]], [['0x1']]])('is missing in %o', (calls) => {
    expect(() => toCalls(calls as never)).toThrow(SvcInputError);
  });

  it('is refused with an invalid address or function', () => {
    for (const contractAddress of ['0x0', 'none', '', 12, toHex(2n ** 251n)]) {
      expect(refusal({ contractAddress })).toContain('contractAddress ');
    }
    for (const entrypoint of ['', '0x', 'a b', '12', 12, toHex(PRIME)]) {
      expect(refusal({ entrypoint })).toContain('entrypoint ');
    }
  });
});
