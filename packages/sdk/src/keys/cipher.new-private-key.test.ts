import { CURVE_ORDER, sign, starkKey, verify } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { defaultRuntime } from '../client/client.ts';
import { newPrivateKey } from './cipher.ts';

const drawing = (byte: number) => ({ ...defaultRuntime, randomBytes: (n: number) => new Uint8Array(n).fill(byte) });

describe('a new private key', () => {
  it('is never the same and always signs', () => {
    const keys = Array.from({ length: 20 }, () => newPrivateKey());
    expect(new Set(keys).size).toBe(20);
    const [key = 0n] = keys;
    const { r, s } = sign(5n, key);
    expect(verify(5n, starkKey(key), r, s)).toBe(true);
  });

  it('lies between one and the curve order for any random bytes', () => {
    expect(newPrivateKey(drawing(0))).toBe(1n);
    for (let byte = 0; byte < 256; byte++) {
      const key = newPrivateKey(drawing(byte));
      expect(key > 0n && key < CURVE_ORDER).toBe(true);
    }
  });

  it('draws more bytes than the key has, to avoid bias', () => {
    const counts: number[] = [];
    const randomBytes = (count: number) => {
      counts.push(count);
      return defaultRuntime.randomBytes(count);
    };
    newPrivateKey({ ...defaultRuntime, randomBytes });
    expect(counts).toEqual([48]);
  });
});
