import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { ORDER } from '../curve/curve.ts';
import { type Fraction, useEngine } from '../engine.ts';
import { PRIME } from '../felt.ts';
import { pedersen, pedersenEach, poseidon, poseidonMany } from '../hashes.ts';
import { plain, sign, starkKey, verify } from '../signature.ts';
import { felt, felts, messageHash, privateKey } from '../testing/arbitraries.ts';
import { createEngine, useWebAssembly } from './engine.ts';
import { FELT_BYTES } from './field.ts';
import { createMachine, FREE } from './machine.ts';

const engine = createEngine();
const scalar = fc.oneof(
  fc.constantFrom(1n, 2n, 255n, 256n, 2n ** 248n, 2n ** 251n, ORDER - 1n),
  fc.bigInt({ min: 1n, max: ORDER - 1n }),
);
const few = { numRuns: 30 };

afterEach(() => useEngine(undefined));

function isSame(one: Fraction | undefined, other: Fraction | undefined): boolean {
  if (!one || !other) return one === other;
  return (one.over * other.under - other.over * one.under) % PRIME === 0n && one.under % PRIME !== 0n;
}

describe('the field in WebAssembly', () => {
  const machine = createMachine({ first: [], partial: [1n], last: [] });
  const [left, right] = [FREE, FREE + FELT_BYTES];

  it('gives back every felt', () => {
    fc.assert(
      fc.property(felt, (value) => {
        machine.put(left, value);
        return machine.take(left) === value;
      }),
    );
  });

  it('multiplies and squares as numbers do, also what was multiplied before', () => {
    fc.assert(
      fc.property(felt, felt, (a, b) => {
        machine.put(left, a);
        machine.put(right, b);
        machine.multiply(left, left, right);
        machine.square(right, left);
        machine.multiply(right, right, right);
        const product = (a * b) % PRIME;
        return machine.take(left) === product && machine.take(right) === product ** 4n % PRIME;
      }),
      { numRuns: 500 },
    );
  });
});

describe('the engine in WebAssembly', () => {
  it('hashes as plain JavaScript does', () => {
    fc.assert(
      fc.property(felt, felt, felts, (a, b, items) => {
        useEngine(undefined);
        const hashes = () => [
          pedersen(a, b),
          poseidon(a, b),
          poseidonMany(items),
          ...pedersenEach(a, [b, ...items, b]),
        ];
        const expected = hashes();
        useEngine(engine);
        expect(hashes()).toEqual(expected);
      }),
    );
  });

  it('hashes long lists, and zeros', () => {
    const lists = [Array.from({ length: 333 }, (_, i) => PRIME - 1n - BigInt(i)), [0n], [0n, 0n], [0n, 0n, 0n]];
    const expected = [pedersen(0n, 0n), ...lists.map(poseidonMany)];
    useEngine(engine);
    expect([pedersen(0n, 0n), ...lists.map(poseidonMany)]).toEqual(expected);
  });

  it('multiplies the generator as plain JavaScript does; zero has no x', () => {
    fc.assert(fc.property(scalar, (k) => isSame(engine.generatorMultiple(k), plain.generatorMultiple(k))));
    expect(engine.generatorMultiple(0n)).toBeUndefined();
  });

  it('multiplies keys as plain JavaScript does, and knows which are on the curve', () => {
    fc.assert(
      fc.property(felt, scalar, (x, k) => isSame(engine.keyMultiple(x, k), plain.keyMultiple(x, k))),
      few,
    );
  });

  it('accepts signatures and refuses altered ones', () => {
    useEngine(engine);
    fc.assert(
      fc.property(messageHash, privateKey, (message, secret) => {
        const { r, s } = sign(message, secret);
        const owner = starkKey(secret);
        expect(verify(message, owner, r, s)).toBe(true);
        expect(verify(message, owner, r, ORDER - s)).toBe(true);
        expect(verify(message ^ 1n, owner, r, s)).toBe(false);
        expect(verify(message, owner, s, r)).toBe(false);
      }),
      few,
    );
  });

  it('is used once it is asked for', () => {
    expect(useWebAssembly()).toBe(true);
    expect(poseidon(1n, 2n)).toBe(engine.poseidon(1n, 2n, 2n));
  });
});
