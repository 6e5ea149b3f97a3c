import * as scure from '@scure/starknet';
import fc from 'fast-check';
import { ec } from 'starknet';
import { describe, expect, it } from 'vitest';
import { ORDER } from './curve/curve.ts';
import { PRIME, toHex } from './felt.ts';
import { sign, starkKey, verify } from './signature.ts';
import { felt, messageHash, privateKey } from './testing/arbitraries.ts';

const runs = { numRuns: 25 };
const key = 0x2dccce1da22003777062ee0870e9881b460a8b7eca276870f57c601f182136cn;
const publicKey = starkKey(key);
const hash = 0x6fea80189363a786037ed3e7ba546dad0ef7de49fccae0e31eb658b7dd4ea76n;
const { r, s } = sign(hash, key);

/** About half of all felts are the x coordinate of a point. */
function isOnCurve(x: bigint): boolean {
  try {
    scure.ProjectivePoint.fromHex(`02${x.toString(16).padStart(64, '0')}`);
    return true;
  } catch {
    return false;
  }
}

describe('signing', () => {
  it('gives the keys and signatures of starknet.js, which it verifies', () => {
    fc.assert(
      fc.property(messageHash, privateKey, (message, secret) => {
        const own = sign(message, secret);
        const theirs = ec.starkCurve.sign(toHex(message), toHex(secret));
        expect(toHex(starkKey(secret))).toBe(ec.starkCurve.getStarkKey(toHex(secret)));
        expect(own).toEqual({ r: theirs.r, s: theirs.s });
        const full = ec.starkCurve.getPublicKey(toHex(secret));
        expect(ec.starkCurve.verify(new ec.starkCurve.Signature(own.r, own.s), toHex(message), full)).toBe(true);
      }),
      runs,
    );
  });
});

describe('verifying', () => {
  it('accepts what starknet.js signed, with a key seen before or not', () => {
    fc.assert(
      fc.property(messageHash, messageHash, privateKey, (one, two, secret) => {
        for (const message of [one, two]) {
          const theirs = ec.starkCurve.sign(toHex(message), toHex(secret));
          expect(verify(message, starkKey(secret), theirs.r, theirs.s)).toBe(true);
        }
      }),
      runs,
    );
  });

  it('refuses every altered value', () => {
    fc.assert(
      fc.property(messageHash, privateKey, fc.bigInt({ min: 1n, max: 2n ** 250n }), (message, secret, change) => {
        const own = sign(message, secret);
        const owner = starkKey(secret);
        expect(verify((message + change) % 2n ** 251n, owner, own.r, own.s)).toBe(false);
        expect(verify(message, owner, (own.r + change) % ORDER, own.s)).toBe(false);
        // -s is the only other valid value.
        const altered = (own.s + change) % ORDER;
        expect(verify(message, owner, own.r, altered)).toBe(altered === ORDER - own.s);
        expect(verify(message, owner, own.s, own.r)).toBe(own.r === own.s);
        expect(verify(message, starkKey(change), own.r, own.s)).toBe(starkKey(change) === owner);
      }),
      runs,
    );
  });

  it('tells a signature that it has seen from one that differs in a single value', () => {
    const other = starkKey(key + 1n);
    for (let time = 0; time < 2; time++) {
      expect(verify(hash, publicKey, r, s)).toBe(true);
      expect(verify(hash + 1n, publicKey, r, s)).toBe(false);
      expect(verify(hash, other, r, s)).toBe(false);
      expect(verify(hash, publicKey, r + 1n, s)).toBe(false);
      expect(verify(hash, publicKey, r, s + 1n)).toBe(false);
    }
  });

  it('answers as @scure/starknet does for any four numbers', () => {
    fc.assert(
      fc.property(felt, felt, felt, felt, (message, owner, a, b) => {
        let expected = false;
        try {
          const signature = new scure.Signature(a, b);
          const point = scure.ProjectivePoint.fromHex(`02${owner.toString(16).padStart(64, '0')}`);
          expected = [point, point.negate()].some((full) => scure.verify(signature, toHex(message), full.toHex()));
        } catch {
          // The reference throws on out-of-range values, which `verify` refuses.
        }
        expect(verify(message, owner, a, b)).toBe(expected);
      }),
      runs,
    );
  });

  it('tests both points that have the public key as x coordinate', () => {
    // Two private keys with opposite points share a public key.
    const opposite = ORDER - key;
    expect(starkKey(opposite)).toBe(publicKey);
    const other = sign(hash, opposite);
    expect(other).not.toEqual({ r, s });
    expect(verify(hash, publicKey, r, s)).toBe(true);
    expect(verify(hash, publicKey, other.r, other.s)).toBe(true);
  });

  it('knows that a signature is good with the opposite s as well', () => {
    expect(verify(hash, publicKey, r, ORDER - s)).toBe(true);
  });

  it('accepts a good signature of zero and of the highest felt', () => {
    const zero = sign(0n, key);
    expect(verify(0n, publicKey, zero.r, zero.s)).toBe(true);
    // Signing stops at 2^251; the highest felt is congruent to this small hash, and Cairo accepts it.
    const high = sign(PRIME - 1n - ORDER, key);
    expect(verify(PRIME - 1n, publicKey, high.r, high.s)).toBe(true);
  });

  it.each([
    ['r zero', hash, publicKey, 0n, s],
    ['s zero', hash, publicKey, r, 0n],
    ['both zero', hash, publicKey, 0n, 0n],
    ['r beyond the order', hash, publicKey, r + ORDER, s],
    ['s beyond the order', hash, publicKey, r, s + ORDER],
    ['r the order', hash, publicKey, ORDER, s],
    ['s the order', hash, publicKey, r, ORDER],
    ['a negative r', hash, publicKey, r - ORDER, s],
    ['a negative s', hash, publicKey, r, -s],
    ['a hash outside the field', hash + 2n * ORDER, publicKey, r, s],
    ['a negative hash', hash - ORDER, publicKey, r, s],
    ['a key outside the field', hash, publicKey + PRIME, r, s],
    ['a negative key', hash, publicKey - PRIME, r, s],
  ])('refuses %s', (_, message, owner, a, b) => {
    expect(verify(message, owner, a, b)).toBe(false);
  });

  it('refuses a public key that is not on the curve, and what is right for the twisted curve that it is on', () => {
    const off = Array.from({ length: 40 }, (_, x) => BigInt(x)).filter((x) => !isOnCurve(x));
    expect(off.length).toBeGreaterThan(5);
    for (const x of off) expect(verify(hash, x, r, s)).toBe(false);
    // With hash 0 and r = s, the check is whether r is the key's x coordinate, which must also be on the curve.
    for (const x of off.filter((value) => value > 0n)) expect(verify(0n, x, x, x)).toBe(false);
    const on = Array.from({ length: 40 }, (_, x) => BigInt(x + 1)).filter(isOnCurve);
    for (const x of on) expect(verify(0n, x, x, x)).toBe(true);
  });

  it('is right when the two parts of the sum are equal or opposite', () => {
    // hash · G = ± r · Q: with r the x coordinate of the double, one of sum and difference is that double, the other zero.
    const secret = 5n;
    const owner = starkKey(secret);
    const double = starkKey(2n);
    // Q = 5G, so r · Q = 5r · G; s and hash chosen that (hash/s) = (5r/s) = 1.
    const same = (5n * double) % ORDER;
    expect(verify(same, owner, double, same)).toBe(true);
    expect(verify(same, owner, double, same + 1n)).toBe(false);
  });
});
