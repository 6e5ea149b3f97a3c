import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDecimal, formatUsd, parseDecimal, parseTokenAmount, parseUsd, usdToNumber } from './amounts.ts';

describe('parseDecimal', () => {
  it.each([
    ['0', 6, 0n],
    ['1', 6, 1_000_000n],
    ['0.5', 6, 500_000n],
    ['12.345678', 6, 12_345_678n],
    ['0.000001', 6, 1n],
    ['007', 0, 7n],
    ['1.000000000000000001', 18, 1_000_000_000_000_000_001n],
  ])('reads %s with %i decimals exactly', (text, decimals, value) => {
    expect(parseDecimal(text, decimals)).toEqual({ ok: true, value });
  });

  it.each([
    '',
    ' ',
    '1 ',
    ' 1',
    '-1',
    '+1',
    '1e3',
    '1E3',
    'NaN',
    'Infinity',
    '.5',
    '5.',
    '1,5',
    '1_000',
    '0x10',
    '1.2.3',
    '１',
    '٣',
    '1\n',
  ])('refuses %j', (text) => {
    expect(parseDecimal(text, 6).ok).toBe(false);
  });

  it('refuses what would have to be rounded, instead of making it zero', () => {
    expect(parseDecimal('0.0000001', 6)).toEqual({ ok: false, reason: 'must have at most 6 decimals' });
  });

  it('refuses a megabyte of digits without reading them', () => {
    expect(parseDecimal('9'.repeat(1_000_000), 6).ok).toBe(false);
  });

  it('reads back what formatDecimal prints, for every amount and precision', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 0, max: 18 }), (raw, decimals) => {
        expect(parseDecimal(formatDecimal(raw, decimals), decimals)).toEqual({ ok: true, value: raw });
      }),
    );
  });
});

describe('formatDecimal', () => {
  it.each([
    [5_000_000n, 6, '5'],
    [500_000n, 6, '0.5'],
    [1n, 6, '0.000001'],
    [0n, 6, '0'],
    [100n, 0, '100'],
    [-1_500_000n, 6, '-1.5'],
  ])('prints %s with %i decimals as %s, without trailing zeros', (raw, decimals, text) => {
    expect(formatDecimal(raw, decimals)).toBe(text);
  });
});

describe('dollars', () => {
  it('reads a JSON number by its printed form, so that 0.1 is exactly a tenth', () => {
    expect(parseUsd(0.1)).toEqual({ ok: true, value: 100_000n });
    expect(parseUsd(1e21).ok).toBe(false);
    expect(parseUsd(1e-7).ok).toBe(false);
    expect(parseUsd(Number.NaN).ok).toBe(false);
    expect(parseUsd(-1).ok).toBe(false);
  });

  it('gives the JSON number that prints the same amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 4_000_000_000_000_000n }), (micros) => {
        const printed = usdToNumber(micros);
        expect(parseUsd(printed)).toEqual({ ok: true, value: micros });
        expect(formatUsd(micros)).toBe(formatDecimal(micros, 6));
      }),
    );
  });
});

describe('token amounts', () => {
  it('refuses what does not fit 256 bits', () => {
    const largest = 2n ** 256n - 1n;
    expect(parseTokenAmount(largest.toString(), 0)).toEqual({ ok: true, value: largest });
    expect(parseTokenAmount((largest + 1n).toString(), 0).ok).toBe(false);
  });
});
