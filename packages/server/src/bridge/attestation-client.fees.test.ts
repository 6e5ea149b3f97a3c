import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ceilingOf, type Fees, feeOf, readFees } from './attestation-client.ts';

const entry = (finalityThreshold: number, minimumFee: unknown, high: unknown = 0) => ({
  finalityThreshold,
  minimumFee,
  forwardFee: { low: 0, med: 0, high },
});
const fast = (minimumFee: unknown, high?: unknown): Fees | undefined =>
  readFees([entry(1_000, minimumFee, high), entry(2_000, 0, high)])?.fast;
const fees = (minimumFee: number, high = 0): Fees => fast(minimumFee, high) ?? { rate: -1n, forward: -1n };

describe('the fee', () => {
  it.each([
    [1.3, 0, 1_000_000n, 130n],
    [1.3, 0, 1_000_001n, 131n],
    [1.4, 0, 1n, 1n],
    [0, 0, 1_000_000n, 0n],
    [0.0001, 0, 1_000_000n, 1n],
    [0.07, 0, 10_000_000_000n, 70_000n],
    [1, 250_000, 5_000_000n, 250_500n],
  ])('of %d basis points and %d for the mint is rounded up for %d', (points, forward, burned, fee) => {
    expect(feeOf(fees(points, forward), burned)).toBe(fee);
  });

  it('of the mint is the dearest that is told, and both speeds have their own', () => {
    const both = readFees([
      entry(2_000, 0, 900),
      { ...entry(1_000, 1.5, 900), forwardFee: { low: 1, med: 2, high: 3 } },
    ]);
    expect(both).toEqual({ standard: { rate: 0n, forward: 900n }, fast: { rate: 15_000_000_000n, forward: 3n } });
  });

  it.each([
    ['no list', { fast: 1 }],
    ['no fast fee', [entry(2_000, 0)]],
    ['no standard fee', [entry(1_000, 1)]],
    ['a negative fee', [entry(1_000, -1), entry(2_000, 0)]],
    ['a fee above a tenth', [entry(1_000, 1_001), entry(2_000, 0)]],
    ['a text', [entry(1_000, '1'), entry(2_000, 0)]],
    ['no fee of the mint', [{ finalityThreshold: 1_000, minimumFee: 1 }, entry(2_000, 0)]],
    ['a broken fee of the mint', [entry(1_000, 1, 0.5), entry(2_000, 0)]],
    ['a huge fee of the mint', [entry(1_000, 1, 1e9), entry(2_000, 0)]],
    ['nothing', undefined],
    ['a list of nothing', [null]],
  ])('is not read from an answer with %s', (_, answer) => {
    expect(readFees(answer)).toBeUndefined();
  });
});

describe('the ceiling', () => {
  it('is the fee and half as much again', () => {
    expect(ceilingOf(fees(1.3), 5_000_000n)).toBe(977n);
    expect(ceilingOf(fees(0, 200_000), 5_000_000n)).toBe(300_000n);
  });

  it('is never nothing', () => {
    expect(ceilingOf(fees(0), 5_000_000n)).toBe(1n);
  });

  it('always covers the fee of what is burned, itself included', () => {
    const amounts = fc.bigInt({ min: 1n, max: 10_000_000_000n });
    fc.assert(
      fc.property(
        amounts,
        fc.double({ min: 0, max: 1_000, noNaN: true }),
        fc.nat(100_000_000),
        (amount, points, high) => {
          const known = fees(points, high);
          const ceiling = ceilingOf(known, amount);
          expect(feeOf(known, amount + ceiling)).toBeLessThanOrEqual(ceiling);
        },
      ),
    );
  });
});
