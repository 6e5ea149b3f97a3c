import fc from 'fast-check';
import { shortString as other } from 'starknet';
import { describe, expect, it } from 'vitest';
import { isFelt, PRIME, parseFelt, readShortString, shortString, spellPanic, toHex } from './felt.ts';
import { felt } from './testing/arbitraries.ts';

describe('felts', () => {
  it('are read back from hexadecimal, padded or not, in either case, and from decimal', () => {
    fc.assert(
      fc.property(felt, (value) => {
        const digits = value.toString(16);
        const spellings = [toHex(value), `0x${digits.padStart(64, '0')}`, `0x${digits.toUpperCase()}`, `${value}`];
        for (const text of spellings) expect(parseFelt(text)).toEqual({ ok: true, value });
      }),
    );
  });

  it('end below the prime', () => {
    expect(isFelt(0n)).toBe(true);
    expect(isFelt(PRIME - 1n)).toBe(true);
    expect(isFelt(PRIME)).toBe(false);
    expect(isFelt(-1n)).toBe(false);
    expect(parseFelt(toHex(PRIME)).ok).toBe(false);
    expect(parseFelt(`${PRIME}`).ok).toBe(false);
  });

  it.each([
    '',
    '0x',
    ' 1',
    '1 ',
    '-1',
    '1.0',
    '1e3',
    '0b1',
    '0X1',
    '0xg',
    'abc',
    `0x${'0'.repeat(65)}`,
    '1'.repeat(79),
  ])('are not read from %j', (text) => {
    expect(parseFelt(text).ok).toBe(false);
  });
});

describe('short strings', () => {
  it('are the felts that starknet.js makes of them, and read back', () => {
    const text = fc.string({
      unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
      maxLength: 31,
    });
    fc.assert(
      fc.property(text, (value) => {
        expect(readShortString(shortString(value))).toBe(value);
        if (value !== '') expect(toHex(shortString(value))).toBe(toHex(BigInt(other.encodeShortString(value))));
      }),
    );
  });

  it('are ASCII of at most 31 characters', () => {
    expect(shortString('')).toBe(0n);
    expect(shortString('a'.repeat(31))).toBeLessThan(PRIME);
    expect(() => shortString('a'.repeat(32))).toThrow(RangeError);
    expect(() => shortString('é')).toThrow(RangeError);
    expect(() => readShortString(PRIME)).toThrow(RangeError);
  });
});

describe('a panic', () => {
  const hex = (words: string) => toHex(shortString(words));

  it('that a node writes as a list of felts is spelled', () => {
    expect(spellPanic(JSON.stringify([hex('Account: unauthorized')]))).toBe(
      `${hex('Account: unauthorized')} ('Account: unauthorized')`,
    );
    expect(spellPanic(JSON.stringify([hex('u256_sub Overflow'), '0x1', hex('ENTRYPOINT_FAILED')]))).toBe(
      `${hex('u256_sub Overflow')} ('u256_sub Overflow'), 0x1, ${hex('ENTRYPOINT_FAILED')} ('ENTRYPOINT_FAILED')`,
    );
  });

  it.each(['', '[]', '["1"]', '["0x1"', "0x31 ('1')", '["0x1"] and more', '[0x1]', '{"error":"0x1"}'])(
    'in any other form stays as it is: %s',
    (text) => expect(spellPanic(text)).toBe(text),
  );
});
