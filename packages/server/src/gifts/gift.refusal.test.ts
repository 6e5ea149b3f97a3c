import { describe, expect, it } from 'vitest';
import { type Refusal, refusalOf } from './gift.ts';

const NOW = 1_000_000;
const moment = (ms: number) => new Date(NOW + ms);
const good = {
  deletedAt: null,
  isActive: true,
  startsAt: moment(0),
  expiresAt: null,
  totalRedeems: 9,
  maxRedeems: 10,
  holdId: 'led_1',
};

/** What is wrong, from the first reason to the last. */
const wrongs: readonly (readonly [Refusal, object])[] = [
  ['gift_not_found', { deletedAt: moment(-1) }],
  ['gift_inactive', { isActive: false }],
  ['gift_not_started', { startsAt: moment(1) }],
  ['gift_expired', { expiresAt: moment(0) }],
  ['gift_limit_reached', { totalRedeems: 10 }],
];

describe('a gift', () => {
  it('can be redeemed from its start on, before its expiry, while a place is left', () => {
    expect(refusalOf(good, NOW)).toBeUndefined();
    expect(refusalOf({ ...good, expiresAt: moment(1) }, NOW)).toBeUndefined();
  });

  it('that does not exist is not found', () => {
    expect(refusalOf(undefined, NOW)).toBe('gift_not_found');
  });

  it.each(wrongs)('is refused as %s', (reason, wrong) => {
    expect(refusalOf({ ...good, ...wrong }, NOW)).toBe(reason);
  });

  it.each(wrongs.map(([reason], index) => [reason, index] as const))(
    'with several faults is refused for the first: %s',
    (reason, index) => {
      const all = Object.assign({}, ...wrongs.slice(index).map(([, wrong]) => wrong)) as object;
      expect(refusalOf({ ...good, ...all }, NOW)).toBe(reason);
    },
  );

  it('whose hold was released by a process with another clock has expired', () => {
    expect(refusalOf({ ...good, expiresAt: moment(5), holdId: null }, NOW)).toBe('gift_expired');
  });
});
