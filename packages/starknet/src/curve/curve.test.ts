import { CURVE, ProjectivePoint } from '@scure/starknet';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PRIME } from '../felt.ts';
import { buildComb, multiply } from './comb.ts';
import { add, BETA, double, fromAffine, GENERATOR, ORDER, type Point, sumOf, toAffine } from './curve.ts';
import { invert, invertAll } from './modular.ts';
import { coordinates, isPoint, negate, sumOfMultiples } from './multiples.ts';
import { publicKeyFrom } from './public-key.ts';
import { buildWindows, select } from './windows.ts';

const edges = [1n, 2n, 3n, 2n ** 42n, 2n ** 42n - 1n, 2n ** 210n, 2n ** 251n, ORDER - 2n, ORDER - 1n];
const scalar = fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min: 1n, max: ORDER - 1n }));

const positive = (value: bigint) => ((value % PRIME) + PRIME) % PRIME;
function affine(point: Point | undefined) {
  const [{ x, y } = { x: 0n, y: 0n }] = point ? toAffine([point]) : [];
  return { x: positive(x), y: positive(y) };
}
function expected(factor: bigint) {
  const { x, y } = ProjectivePoint.BASE.multiplyUnsafe(factor).toAffine();
  return { x, y };
}

describe('the curve', () => {
  it('is the Stark curve of @scure/starknet', () => {
    expect([ORDER, BETA, GENERATOR.x, GENERATOR.y]).toEqual([CURVE.n, CURVE.b, CURVE.Gx, CURVE.Gy]);
    expect(CURVE.a).toBe(1n);
  });

  it('doubles and adds as @scure/starknet does', () => {
    fc.assert(
      fc.property(scalar, (factor) => {
        const point = expected(factor);
        expect(affine(double(fromAffine(point), 1n))).toEqual(expected((2n * factor) % ORDER));
        if (factor === 1n || factor === ORDER - 1n) return;
        expect(affine(add(fromAffine(point), GENERATOR))).toEqual(expected(factor + 1n));
      }),
      { numRuns: 30 },
    );
  });

  it('multiplies with a comb and with windows as @scure/starknet does', () => {
    const comb = buildComb(GENERATOR, 1n);
    const windows = buildWindows(GENERATOR, 252);
    fc.assert(
      fc.property(scalar, (factor) => {
        expect(affine(multiply(comb, factor))).toEqual(expected(factor));
        expect(affine(sumOf(select(windows, factor)))).toEqual(expected(factor));
      }),
      { numRuns: 40 },
    );
    expect(sumOf(select(windows, 0n))).toBeUndefined();
    expect(() => multiply(comb, 0n)).toThrow(RangeError);
  });

  it('multiplies a public key of which only x is known', () => {
    fc.assert(
      fc.property(scalar, scalar, (secret, factor) => {
        const key = publicKeyFrom(expected(secret).x);
        if (!key) throw new Error('The key is on the curve');
        const { x, zz } = multiply(key.comb, factor);
        const product = positive(x * invert(zz * key.scale, PRIME));
        expect(product).toBe(expected((secret * factor) % ORDER).x);
      }),
      { numRuns: 20 },
    );
  });
});

describe('a sum of multiples', () => {
  const anyScalar = fc.oneof(fc.constantFrom(0n, 1n, -1n, ORDER, ORDER - 1n, 2n ** 128n), fc.bigInt(-ORDER, ORDER));
  const terms = fc.array(fc.tuple(anyScalar, fc.bigInt(1n, 3n)), { minLength: 1, maxLength: 4 });

  it('is that of @scure/starknet, with equal and opposite points and with zero', () => {
    fc.assert(
      fc.property(terms, (list) => {
        const sum = sumOfMultiples(list.map(([factor, secret]) => ({ scalar: factor, point: expected(secret) })));
        const total = list.reduce((all, [factor, secret]) => all + factor * secret, 0n) % ORDER;
        if (total === 0n) expect(sum).toBeUndefined();
        else expect(coordinates([sum])).toEqual([expected((total + ORDER) % ORDER)]);
      }),
      { numRuns: 40 },
    );
    const point = expected(5n);
    expect(
      sumOfMultiples([
        { scalar: 3n, point },
        { scalar: 3n, point: negate(point) },
      ]),
    ).toBeUndefined();
    expect(sumOfMultiples([])).toBeUndefined();
  });

  it('takes points of the curve alone', () => {
    expect(isPoint(GENERATOR)).toBe(true);
    expect([{ x: 0n, y: 0n }, { x: 1n, y: 1n }, negate(GENERATOR)].some(isPoint)).toBe(false);
    expect(isPoint({ x: GENERATOR.x + PRIME, y: GENERATOR.y })).toBe(false);
  });
});

describe('inverses', () => {
  it('give one with what they invert, alone or many at once', () => {
    const values = fc.array(fc.bigInt({ min: 1n, max: PRIME - 1n }), { maxLength: 8 });
    fc.assert(
      fc.property(values, (list) => {
        const together = invertAll(list, PRIME);
        for (const [i, value] of list.entries()) {
          expect(positive(value * invert(value, PRIME))).toBe(1n);
          expect(positive(value * (together[i] ?? 0n))).toBe(1n);
          expect(positive(-value * invert(-value, PRIME))).toBe(1n);
        }
      }),
    );
  });

  it('do not exist for zero', () => {
    expect(() => invert(0n, PRIME)).toThrow(RangeError);
    expect(() => invert(PRIME, PRIME)).toThrow(RangeError);
  });
});
