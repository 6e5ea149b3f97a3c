import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceInToken } from './quote.ts';

describe('priceInToken', () => {
  it.each([
    [5.405405, 6, 5_405_405n],
    [0.1, 6, 100_000n],
    [5.405405, 18, 5_405_405_000_000_000_000n],
    [5.405405, 2, 541n],
    [5.4, 2, 540n],
    [0.000001, 2, 1n],
    [1_000_000_000, 6, 1_000_000_000_000_000n],
  ])('%d dollars with %i decimals are %i units', (usd, decimals, units) => {
    expect(priceInToken(usd, decimals)).toBe(units);
  });

  it('is never below the price and never a unit above it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), fc.integer({ min: 0, max: 18 }), (micros, decimals) => {
        const units = priceInToken(Number((micros / 1e6).toFixed(6)), decimals);
        const exact = BigInt(micros) * 10n ** BigInt(decimals);
        return units * 1_000_000n >= exact && (units - 1n) * 1_000_000n < exact;
      }),
    );
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e-7, 1e21])('refuses %d', (usd) => {
    expect(() => priceInToken(usd, 6)).toThrow('no price');
  });
});
