import * as scure from '@scure/starknet';
import fc from 'fast-check';
import { hash } from 'starknet';
import { describe, expect, it } from 'vitest';
import { PRIME } from './felt.ts';
import { pedersen, pedersenEach, pedersenMany, poseidon, poseidonMany, starknetKeccak } from './hashes.ts';
import { felt, felts } from './testing/arbitraries.ts';

describe('pedersen', () => {
  it('agrees with @scure/starknet for any two felts', () => {
    fc.assert(fc.property(felt, felt, (a, b) => pedersen(a, b) === BigInt(scure.pedersen(a, b))));
  });

  it('agrees on every bit and byte by itself', () => {
    for (let bit = 0n; bit < 252n; bit += 3n) {
      const value = bit < 251n ? 1n << bit : PRIME - 1n;
      expect(pedersen(value, 0n)).toBe(BigInt(scure.pedersen(value, 0n)));
      expect(pedersen(0n, value)).toBe(BigInt(scure.pedersen(0n, value)));
    }
  });

  it('agrees with starknet.js for lists, the empty one too', () => {
    fc.assert(
      fc.property(felts, (items) => pedersenMany(items) === BigInt(hash.computePedersenHashOnElements(items))),
      { numRuns: 30 },
    );
    expect(pedersenMany([])).toBe(BigInt(hash.computePedersenHashOnElements([])));
  });

  it('of one felt with each of a list agrees with @scure/starknet, also where felts are repeated', () => {
    const expected = (a: bigint, others: readonly bigint[]) => others.map((b) => BigInt(scure.pedersen(a, b)));
    fc.assert(
      fc.property(felt, felts, (a, others) => {
        expect(pedersenEach(a, [...others, a, a])).toEqual(expected(a, [...others, a, a]));
      }),
      { numRuns: 30 },
    );
    expect(pedersenEach(1n, [])).toEqual([]);
  });
});

describe('poseidon', () => {
  it('agrees with @scure/starknet for any two felts', () => {
    fc.assert(fc.property(felt, felt, (a, b) => poseidon(a, b) === scure.poseidonHash(a, b)));
  });

  it('agrees with starknet.js for lists, the empty one too', () => {
    fc.assert(fc.property(felts, (items) => poseidonMany(items) === BigInt(hash.computePoseidonHashOnElements(items))));
    expect(poseidonMany([])).toBe(BigInt(hash.computePoseidonHashOnElements([])));
  });
});

describe('any hash', () => {
  it('refuses numbers outside the field, which would hash like another felt', () => {
    for (const bad of [-1n, PRIME, PRIME + 1n, 2n ** 256n]) {
      expect(() => pedersen(bad, 0n)).toThrow(RangeError);
      expect(() => pedersen(0n, bad)).toThrow(RangeError);
      expect(() => pedersenEach(0n, [1n, bad])).toThrow(RangeError);
      expect(() => poseidon(bad, 0n)).toThrow(RangeError);
      expect(() => poseidon(0n, bad)).toThrow(RangeError);
      expect(() => poseidonMany([1n, bad, 3n])).toThrow(RangeError);
      expect(() => pedersenMany([1n, bad, 3n])).toThrow(RangeError);
    }
  });

  it('of a text agrees with starknet.js', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => starknetKeccak(text) === hash.starknetKeccak(text)),
    );
  });
});
