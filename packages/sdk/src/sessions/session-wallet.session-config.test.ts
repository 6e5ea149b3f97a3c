import { selector } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import {
  readSessionConfig,
  readSpendingPolicy,
  type SessionConfig,
  type SpendingPolicyConfig,
} from './session-wallet.ts';

const session: SessionConfig = {
  sessionPublicKey: '0x0123',
  validUntil: 1_800_000_000,
  maxCalls: 5,
  allowedEntrypoints: [],
};
const policy: SpendingPolicyConfig = {
  sessionPublicKey: '0x123',
  token: '0x00456',
  maxPerCall: '10',
  maxPerWindow: 25n,
  windowSeconds: 60,
};
const invalid = expect.objectContaining({ name: 'SvcInputError', code: 'invalid_input' });
const MAX_U256 = 2n ** 256n - 1n;

describe('the configuration of a session', () => {
  it('accepts functions by name and selector, each once', () => {
    const name = `0x${selector('transfer').toString(16)}`;
    const { allowedEntrypoints } = readSessionConfig({ ...session, allowedEntrypoints: ['transfer', 'approve', name] });
    expect(allowedEntrypoints).toEqual([selector('transfer'), selector('approve')]);
  });

  it('accepts the largest number of calls that the wallet can count', () => {
    expect(readSessionConfig({ ...session, maxCalls: 4_294_967_295 }).maxCalls).toBe(2n ** 32n - 1n);
  });

  it.each<[string, object]>([
    ['no key', { sessionPublicKey: '' }],
    ['the key zero', { sessionPublicKey: '0x0' }],
    ['a key beyond the field', { sessionPublicKey: `0x${'f'.repeat(64)}` }],
    ['milliseconds', { validUntil: 1_800_000_000_000 }],
    ['a time with a fraction', { validUntil: 1.5 }],
    ['no time', { validUntil: undefined }],
    ['no calls', { maxCalls: 0 }],
    ['more calls than the wallet can count', { maxCalls: 4_294_967_296 }],
    ['no list', { allowedEntrypoints: undefined }],
    ['a list that is none', { allowedEntrypoints: 'transfer' }],
    ['a function that is none', { allowedEntrypoints: ['transfer('] }],
    ['an endless list', { allowedEntrypoints: Array.from({ length: 101 }, (_, index) => `f${index}`) }],
  ])('with %s is refused', (_name, change) => {
    expect(() => readSessionConfig({ ...session, ...change })).toThrow(invalid);
  });
});

describe('the configuration of a policy', () => {
  it('accepts exact amounts up to the largest u256, and windows up to the largest u64', () => {
    const read = readSpendingPolicy({
      ...policy,
      maxPerCall: MAX_U256,
      maxPerWindow: MAX_U256.toString(),
      windowSeconds: 2n ** 64n - 1n,
    });
    expect(read).toEqual({
      sessionKey: 0x123n,
      token: 0x456n,
      maxPerCall: MAX_U256,
      maxPerWindow: MAX_U256,
      windowSeconds: 2n ** 64n - 1n,
    });
  });

  it('accepts an amount of zero, which allows nothing', () => {
    expect(readSpendingPolicy({ ...policy, maxPerCall: 0n })).toMatchObject({ maxPerCall: 0n });
  });

  it.each<[string, object]>([
    ['an amount beyond u256', { maxPerCall: MAX_U256 + 1n }],
    ['an amount below zero', { maxPerWindow: -1n }],
    ['an amount with a point', { maxPerCall: '1.5' }],
    ['an amount in hexadecimal', { maxPerCall: '0x10' }],
    ['an amount that is not exact', { maxPerCall: 2 ** 60 }],
    ['no amount', { maxPerWindow: undefined }],
    ['an amount of endless digits', { maxPerWindow: '9'.repeat(100_000) }],
    ['no window, which would be no policy', { windowSeconds: 0 }],
    ['a window beyond u64', { windowSeconds: 2n ** 64n }],
    ['the name of a token', { token: 'USDC' }],
  ])('with %s is refused', (_name, change) => {
    expect(() => readSpendingPolicy({ ...policy, ...change })).toThrow(invalid);
  });
});
