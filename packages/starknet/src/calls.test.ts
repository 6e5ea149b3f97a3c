import fc from 'fast-check';
import { CallData } from 'starknet';
import { describe, expect, it } from 'vitest';
import { decodeCalls, encodeCalls } from './calls.ts';
import { ADDRESS_BOUND, PRIME } from './felt.ts';
import { calls, felts } from './testing/arbitraries.ts';

describe('calls', () => {
  it('are laid out as starknet.js compiles them, and read back', () => {
    fc.assert(
      fc.property(calls, (list) => {
        const encoded = encodeCalls(list);
        const shape = list.map(({ to, selector, calldata }) => ({ to, selector, calldata: [...calldata] }));
        expect(encoded.map(String)).toEqual([...CallData.compile({ calls: shape })]);
        expect(decodeCalls(encoded)).toEqual(list);
      }),
    );
  });

  it('are refused when a felt is missing or left over', () => {
    fc.assert(
      fc.property(calls, (list) => {
        const encoded = encodeCalls(list);
        expect(decodeCalls(encoded.slice(0, -1))).toBeUndefined();
        expect(decodeCalls([...encoded, 0n])).toBeUndefined();
      }),
    );
  });

  it('are only ever read in the one way that writes back the same felts', () => {
    const small = fc.array(fc.bigInt({ min: 0n, max: 3n }), { maxLength: 16 });
    fc.assert(
      fc.property(fc.oneof(small, felts), (calldata) => {
        const read = decodeCalls(calldata);
        if (read) expect(encodeCalls(read)).toEqual(calldata);
      }),
    );
  });

  it.each([
    ['an address of 2^251', [1n, ADDRESS_BOUND, 2n, 0n]],
    ['a selector outside the field', [1n, 1n, PRIME, 0n]],
    ['a negative felt', [1n, 1n, 2n, 1n, -1n]],
    ['a length without items', [2n ** 64n]],
    ['a calldata length without items', [1n, 1n, 2n, PRIME - 1n]],
    ['nothing', []],
  ])('are refused with %s', (_, calldata) => {
    expect(decodeCalls(calldata)).toBeUndefined();
  });
});
