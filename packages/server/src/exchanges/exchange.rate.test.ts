import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crossRate, formatRate, isPlausibleRate, mxnToUsd, parseRate } from './exchange.ts';

const ONE = 10n ** 18n;
const amounts = fc.bigInt({ min: 0n, max: 10n ** 15n });
const rates = fc.bigInt({ min: ONE, max: 1000n * ONE });

function rate(text: string): bigint {
  const parsed = parseRate(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

describe('mxnToUsd', () => {
  it('is exact rational division, rounded half away from zero to the millionth', () => {
    fc.assert(
      fc.property(amounts, rates, (amount, mxnPerUsd) => {
        const quotient = (amount * ONE) / mxnPerUsd;
        const remainder = (amount * ONE) % mxnPerUsd;
        const expected = remainder >= mxnPerUsd - remainder ? quotient + 1n : quotient;
        expect(mxnToUsd(amount, mxnPerUsd)).toBe(expected);
      }),
    );
  });

  it('rounds a half up and what is just below it down', () => {
    expect(mxnToUsd(1n, rate('2'))).toBe(1n);
    expect(mxnToUsd(1n, rate('2.000000000000000001'))).toBe(0n);
    expect(mxnToUsd(3n, rate('2'))).toBe(2n);
    expect(mxnToUsd(0n, rate('18.5'))).toBe(0n);
  });

  it('never gives fewer dollars for more pesos, nor more dollars at a higher rate', () => {
    fc.assert(
      fc.property(amounts, amounts, rates, rates, (a, b, first, second) => {
        const [less, more] = a < b ? [a, b] : [b, a];
        const [low, high] = first < second ? [first, second] : [second, first];
        expect(mxnToUsd(less, low) <= mxnToUsd(more, low)).toBe(true);
        expect(mxnToUsd(more, high) <= mxnToUsd(more, low)).toBe(true);
      }),
    );
  });

  it('keeps digits that a double would lose', () => {
    expect(mxnToUsd(999_999_999_999_999n, rate('2'))).toBe(500_000_000_000_000n);
    expect(mxnToUsd(999_999_999_999_999n, rate('2.000000000000000001'))).toBe(499_999_999_999_999n);
    expect(mxnToUsd(100_000_000n, rate('18.5'))).toBe(5_405_405n);
  });
});

describe('rates', () => {
  it('are read and printed without losing a digit', () => {
    fc.assert(fc.property(rates, (value) => rate(formatRate(value)) === value));
    expect(rate('17.123456789012345678')).toBe(17_123_456_789_012_345_678n);
  });

  it('are refused when they are signed, in exponents or finer than 18 decimals', () => {
    for (const text of ['-18.5', '+18.5', '1.85e1', ' 18.5', '18,5', '', 'NaN', `1.${'0'.repeat(19)}`]) {
      expect(parseRate(text).ok, text).toBe(false);
    }
  });

  it('are plausible from 1 to 1000', () => {
    expect(['1', '18.5', '1000'].map((text) => isPlausibleRate(rate(text)))).toEqual([true, true, true]);
    expect(['0', '0.99', '1000.000001'].map((text) => isPlausibleRate(rate(text)))).toEqual([false, false, false]);
  });

  it('through the euro are the exact quotient, rounded at the last kept decimal', () => {
    expect(crossRate(rate('20'), rate('3'))).toBe(6_666_666_666_666_666_667n);
    expect(crossRate(rate('21.6216'), rate('1.1688'))).toBe(18_498_973_305_954_825_462n);
  });
});
