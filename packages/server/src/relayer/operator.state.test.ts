import { describe, expect, it } from 'vitest';
import { stateOf } from './operator.ts';

const STRK = 10n ** 18n;
const funded = { strk: 1_000n * STRK, usdc: 1_000_000_000n, classHash: 1n };

describe('the state of an account', () => {
  it.each([
    ['OK', 'RELAYER', { ...funded, usdc: 0n }, 0],
    ['OK', 'MANAGER', funded, 0],
    ['OK', 'PAYMENT', { strk: 0n, usdc: 0n, classHash: undefined }, 0],
    ['LOW', 'RELAYER', { ...funded, strk: 49n * STRK }, 0],
    ['LOW', 'MANAGER', { ...funded, usdc: 99_999_999n }, 0],
    ['EMPTY', 'RELAYER', { ...funded, strk: STRK - 1n }, 0],
    ['EMPTY', 'MANAGER', { ...funded, usdc: 0n }, 0],
    ['NOT_DEPLOYED', 'MANAGER', { ...funded, classHash: undefined }, 0],
    ['UNREADABLE', 'MANAGER', undefined, 0],
    ['UNRECONCILED', 'MANAGER', funded, 1],
    ['UNRECONCILED', 'RELAYER', undefined, 2],
  ] as const)('is %s for a %s with %o and %i unknown transactions', (state, role, onChain, unreconciled) => {
    expect(stateOf(role, onChain, unreconciled)).toBe(state);
  });
});
