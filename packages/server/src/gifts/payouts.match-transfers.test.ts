import { describe, expect, it } from 'vitest';
import type { DueRedeem } from './payout-store.ts';
import { matchRedeems } from './payouts.ts';

const redeem = (id: string, address: string, amount: bigint): DueRedeem => {
  return { id, giftId: 'gift', address, amount, status: 'PENDING', alone: false, overdue: false };
};
const transfer = (to: bigint, amount: bigint) => ({ token: 1n, from: 2n, to, amount });

describe('a redeem is paid', () => {
  it('by a transfer of its amount to its address, however that is spelt', () => {
    expect(matchRedeems([redeem('a', '0x0aB', 5n)], [transfer(0xabn, 5n)])).toEqual(new Set(['a']));
  });

  it.each([
    ['to another account', transfer(0xacn, 5n)],
    ['of less', transfer(0xabn, 4n)],
    ['of more', transfer(0xabn, 6n)],
  ])('not by one %s', (_, other) => {
    expect(matchRedeems([redeem('a', '0xab', 5n)], [other])).toEqual(new Set());
  });

  it('by one that no other has: two alike need two', () => {
    const two = [redeem('a', '0xab', 5n), redeem('b', '0xab', 5n)];
    expect(matchRedeems(two, [transfer(0xabn, 5n)])).toEqual(new Set(['a']));
    expect(matchRedeems(two, [transfer(0xabn, 5n), transfer(0xabn, 5n)])).toEqual(new Set(['a', 'b']));
  });
});
