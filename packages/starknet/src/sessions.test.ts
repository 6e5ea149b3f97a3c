import fc from 'fast-check';
import { CallData, cairo } from 'starknet';
import { describe, expect, it } from 'vitest';
import * as sessions from './sessions.ts';
import * as policies from './spending-policies.ts';
import { address, felt, felts, u32, u64, u256 } from './testing/arbitraries.ts';

/** Decoding inverts encoding and refuses longer or shorter calldata. */
function roundTrip<T>(values: fc.Arbitrary<T>, encode: (value: T) => bigint[], decode: (felts: bigint[]) => unknown) {
  fc.assert(
    fc.property(values, (value) => {
      const encoded = encode(value);
      expect(decode(encoded)).toEqual(value);
      expect(decode(encoded.slice(0, -1))).toBeUndefined();
      expect(decode([...encoded, 0n])).toBeUndefined();
    }),
  );
}

const sessionKey = fc.record({ sessionKey: felt, validUntil: u64, maxCalls: u32, allowedEntrypoints: felts });
const policy = fc.record({
  sessionKey: felt,
  token: address,
  maxPerCall: u256,
  maxPerWindow: u256,
  windowSeconds: u64,
});

describe('session keys', () => {
  it('are registered with the calldata that starknet.js compiles', () => {
    fc.assert(
      fc.property(sessionKey, (session) => {
        const { validUntil, maxCalls, allowedEntrypoints } = session;
        const theirs = CallData.compile({ key: session.sessionKey, validUntil, maxCalls, allowedEntrypoints });
        expect(sessions.encodeAddOrUpdateSessionKey(session).map(String)).toEqual([...theirs]);
      }),
    );
  });

  it('read back from every calldata, answer and signature', () => {
    roundTrip(sessionKey, sessions.encodeAddOrUpdateSessionKey, sessions.decodeAddOrUpdateSessionKey);
    roundTrip(felt, sessions.encodeSessionKey, sessions.decodeSessionKey);
    const data = fc.record({ validUntil: u64, maxCalls: u32, callsUsed: u32, allowedEntrypointsLength: u32 });
    roundTrip(data, sessions.encodeSessionData, sessions.decodeSessionData);
    const at = fc.record({ sessionKey: felt, index: u32 });
    roundTrip(at, sessions.encodeAllowedEntrypointAt, sessions.decodeAllowedEntrypointAt);
    const signature = fc.record({ sessionKey: felt, r: felt, s: felt, validUntil: u64 });
    roundTrip(signature, sessions.encodeSessionSignature, sessions.decodeSessionSignature);
  });

  it.each([
    ['a time beyond 64 bits', [1n, 2n ** 64n, 3n, 0n]],
    ['calls beyond 32 bits', [1n, 2n, 2n ** 32n, 0n]],
    ['a list shorter than it says', [1n, 2n, 3n, 2n, 4n]],
  ])('are refused with %s', (_, calldata) => {
    expect(sessions.decodeAddOrUpdateSessionKey(calldata)).toBeUndefined();
  });
});

describe('spending policies', () => {
  it('are set with the calldata that starknet.js compiles', () => {
    fc.assert(
      fc.property(policy, (given) => {
        const theirs = CallData.compile({
          key: given.sessionKey,
          token: given.token,
          maxPerCall: cairo.uint256(given.maxPerCall),
          maxPerWindow: cairo.uint256(given.maxPerWindow),
          windowSeconds: given.windowSeconds,
        });
        expect(policies.encodeSetSpendingPolicy(given).map(String)).toEqual([...theirs]);
      }),
    );
  });

  it('read back from every calldata and answer', () => {
    roundTrip(policy, policies.encodeSetSpendingPolicy, policies.decodeSetSpendingPolicy);
    roundTrip(fc.record({ sessionKey: felt, token: address }), policies.encodePolicyKey, policies.decodePolicyKey);
    const state = fc.record({
      maxPerCall: u256,
      maxPerWindow: u256,
      windowSeconds: u64,
      spentInWindow: u256,
      windowStart: u64,
    });
    roundTrip(state, policies.encodeSpendingPolicyState, policies.decodeSpendingPolicyState);
  });

  it.each([
    ['a low half beyond 128 bits', [1n, 2n, 2n ** 128n, 0n, 0n, 0n, 5n]],
    ['a high half beyond 128 bits', [1n, 2n, 0n, 2n ** 128n, 0n, 0n, 5n]],
    ['a window beyond 64 bits', [1n, 2n, 0n, 0n, 0n, 0n, 2n ** 64n]],
    ['a token that is no address', [1n, 2n ** 251n, 0n, 0n, 0n, 0n, 5n]],
  ])('are refused with %s', (_, calldata) => {
    expect(policies.decodeSetSpendingPolicy(calldata)).toBeUndefined();
  });

  it('never have an amount beyond 256 bits', () => {
    const given = { sessionKey: 1n, token: 2n, maxPerCall: 2n ** 256n, maxPerWindow: 0n, windowSeconds: 0n };
    expect(() => policies.encodeSetSpendingPolicy(given)).toThrow(RangeError);
    expect(() => policies.encodeSetSpendingPolicy({ ...given, maxPerCall: -1n })).toThrow(RangeError);
  });
});
