import { CallData } from 'starknet';
import { describe, expect, it } from 'vitest';
import { starkKey } from './signature.ts';
import {
  decodeSetLimit,
  decodeSetSigners,
  encodeSetLimit,
  encodeSetSigners,
  encodeTreasuryConstructor,
  encodeTreasurySignature,
  isPublicKey,
  treasuryAddress,
} from './treasury.ts';

const [low = 0n, high = 0n] = [starkKey(0x51n), starkKey(0x52n)].sort((a, b) => (a < b ? -1 : 1));
const limit = { token: 0xa0n, threshold: 1, maxPerWindow: 2n ** 130n + 5n, windowSeconds: 60n };

describe('the terms of a treasury', () => {
  it('are encoded in increasing order of keys, and read back', () => {
    const calldata = encodeSetSigners({ signers: [high, low], threshold: 2 });
    expect(calldata).toEqual([2n, low, high, 2n]);
    expect(decodeSetSigners(calldata)).toEqual({ signers: [low, high], threshold: 2 });
    expect(decodeSetLimit(encodeSetLimit(limit))).toEqual(limit);
    expect(decodeSetLimit([1n, 2n])).toBeUndefined();
    expect(decodeSetSigners([...calldata, 0n])).toBeUndefined();
  });

  it('are the constructor calldata that starknet.js writes', () => {
    const terms = { signers: [low, high], threshold: 2, limits: [limit] };
    const amount = { low: 5n, high: 4n };
    const theirs = CallData.compile([[low, high], 2, [{ token: 0xa0n, threshold: 1, amount, windowSeconds: 60n }]]);
    expect(encodeTreasuryConstructor(terms)).toEqual(theirs.map(BigInt));
  });

  it('and the salt alone make the address', () => {
    const terms = { signers: [low, high], threshold: 2, limits: [] };
    const turned = { ...terms, signers: [high, low] };
    expect(treasuryAddress(1n, turned)).toBe(treasuryAddress(1n, terms));
    expect(treasuryAddress(2n, terms)).not.toBe(treasuryAddress(1n, terms));
    expect(treasuryAddress(1n, { ...terms, threshold: 1 })).not.toBe(treasuryAddress(1n, terms));
  });
});

describe('the signature of a treasury', () => {
  it('has the signers in increasing order of keys', () => {
    const signatures = [
      { publicKey: high, r: 3n, s: 4n },
      { publicKey: low, r: 1n, s: 2n },
    ];
    expect(encodeTreasurySignature(signatures)).toEqual([low, 1n, 2n, high, 3n, 4n]);
  });

  it('comes from public keys: the x of a point, and not zero', () => {
    expect([low, high].every(isPublicKey)).toBe(true);
    expect([0n, 5n, 2n ** 252n].some(isPublicKey)).toBe(false);
  });
});
