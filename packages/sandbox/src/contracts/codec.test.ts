import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  address,
  array,
  bool,
  byteArray,
  type Codec,
  felt,
  Malformed,
  option,
  Panic,
  Reader,
  span,
  struct,
  u8,
  u64,
  u256,
  type Value,
} from './codec.ts';

function roundTrip<T>(codec: Codec<T>, value: T): T {
  const reader = new Reader(codec.write(value));
  const read = codec.read(reader);
  expect(reader.left).toBe(0);
  return read;
}

describe('codecs', () => {
  it('read back what they wrote', () => {
    const record = struct('Test', {
      id: felt,
      amount: u256,
      flags: array(bool),
      inner: span(span(u8)),
      text: byteArray,
    });
    const values = fc.record({
      id: fc.bigInt({ min: 0n, max: 2n ** 251n }),
      amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      flags: fc.array(fc.boolean(), { maxLength: 5 }),
      inner: fc.array(fc.array(fc.bigInt({ min: 0n, max: 255n }), { maxLength: 4 }), { maxLength: 4 }),
      text: fc.uint8Array({ maxLength: 100 }),
    });
    const same = (value: Value<typeof record>) => {
      expect(roundTrip(record, value)).toEqual(value);
    };
    fc.assert(fc.property(values, same));
    expect(roundTrip(option(felt), 5n)).toBe(5n);
    expect(roundTrip(option(felt), undefined)).toBeUndefined();
  });

  it('lay a ByteArray out in words of 31 bytes and a rest', () => {
    const text = (length: number) => new TextEncoder().encode('a'.repeat(length));
    const word = BigInt(`0x${'61'.repeat(31)}`);
    expect(byteArray.write(text(0))).toEqual([0n, 0n, 0n]);
    expect(byteArray.write(text(30))).toEqual([0n, word >> 8n, 30n]);
    expect(byteArray.write(text(31))).toEqual([1n, word, 0n, 0n]);
    expect(byteArray.write(text(32))).toEqual([1n, word, 0x61n, 1n]);
  });

  it.each([
    ['a u8 of 256', u8, [256n]],
    ['a u64 of 2^64', u64, [2n ** 64n]],
    ['an address of 2^251', address, [2n ** 251n]],
    ['a low half of 2^128', u256, [2n ** 128n, 0n]],
    ['half a u256', u256, [1n]],
    ['a bool of 2', bool, [2n]],
    ['an array that ends early', array(felt), [2n, 1n]],
    ['an array that announces more than there is', array(felt), [2n ** 200n]],
    ['a ByteArray whose rest is a whole word', byteArray, [0n, 0n, 31n]],
    ['a ByteArray whose rest is larger than it says', byteArray, [0n, 256n, 1n]],
    ['an option that is neither', option(felt), [2n]],
  ] as const)('refuse %s', (_name, codec: Codec<unknown>, felts) => {
    expect(() => codec.read(new Reader(felts))).toThrow(Malformed);
  });

  it('panic over a span of felts that ends early, as slicing does in Cairo', () => {
    const early = () => span(felt).read(new Reader([2n, 1n]));
    expect(early).toThrow(Panic);
    expect(() => span(felt).read(new Reader([2n ** 32n, 1n]))).toThrow(Malformed);
    expect(() => span(u8).read(new Reader([2n, 1n]))).toThrow(Malformed);
    expect(() => span(felt).read(new Reader([]))).toThrow(Malformed);
  });
});
